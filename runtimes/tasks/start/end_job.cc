// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/end_job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/start.h"
#include "runtimes/tasks/transport/collective.h"

namespace poise::tasks {

namespace {

constexpr int kExitStatus = 2;

bool has_all_ranks(MPI_Comm communicator) {
  int ranks = 0, all_ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  return ranks == all_ranks;
}

/// Replaces line breaks, because the values of variables may contain some.
void print_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::fprintf(stderr, "poise: %s\n", text.c_str());
}

}  // namespace

void end_job_on_error(MPI_Comm communicator, const std::string& error) {
  const std::string first = first_error(communicator, error);
  if (first.empty()) return;
  int rank = 0, can_finalize = has_all_ranks(communicator) && is_main_thread();
  MPI_Comm_rank(communicator, &rank);
  reduce(communicator, can_finalize, MPI_MIN);
  if (rank == 0) print_line(first);
  if (!can_finalize) MPI_Abort(MPI_COMM_WORLD, kExitStatus);
  MPI_Barrier(communicator);  // a rank that exits early would make the launcher kill the others
  MPI_Finalize();
  std::exit(kExitStatus);
}

}  // namespace poise::tasks
