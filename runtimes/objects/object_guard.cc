// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/object_guard.h"

#include <cstdio>
#include <exception>

#include "runtimes/tasks/start/end_job.h"

namespace poise::objects {

void ObjectGuard::run(ObjectId id, const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception& error) {
    abort(id, reason_of(error));
  } catch (...) {
    abort(id, kUnknownException);
  }
}

void ObjectGuard::abort(ObjectId id, const std::string& reason) const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::fprintf(stderr, "poise: object %u of \"%s\", step %llu on rank %d: %s\n", id,
               collection_.c_str(), static_cast<unsigned long long>(steps_), rank, reason.c_str());
  std::fflush(stderr);
  tasks::abort_job(comm_, 1);
}

}  // namespace poise::objects
