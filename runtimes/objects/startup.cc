// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/startup.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "runtimes/archive/archive.h"
#include "runtimes/objects/collectives.h"
#include "runtimes/tasks/start/end_job.h"
#include "runtimes/tasks/start/variable_notes.h"

#include "poise/base/variables.h"

namespace poise::objects {

namespace {

template <typename Archive>
void visit_options(Archive& archive, CollectionOptions& o) {
  archive(o.name, o.strategy, o.period, o.is_automatic, o.expected_steps, o.placement, o.clock,
          o.mode, o.trace, o.timeline, o.log, o.budget_s, o.threads, o.place_per_thread,
          o.ranks_per_host, o.lend, o.seed, o.max_piece_bytes);
}

}  // namespace

CollectionOptions agreed_options(MPI_Comm comm, const CollectionOptions& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  CollectionOptions agreed = options;
  std::string problem;
  std::vector<std::byte> bytes;
  try {
    if (rank == 0)
      agreed = with_environment(options,
                                [](const char* name) -> const char* { return std::getenv(name); });
  } catch (const Error& error) {
    problem = error.what();
  }
  tasks::end_job_on_error(comm, problem);
  if (rank == 0) {
    Buffer buffer;
    Writer writer(buffer);
    visit_options(writer, agreed);
    bytes.assign(buffer.data(), buffer.data() + buffer.size());
  }
  broadcast_rows(comm, bytes);
  Reader received(bytes);
  visit_options(received, agreed);
  tasks::note_variables(comm, reader::objects | (agreed.lend ? reader::tasks : 0U));
  return agreed;
}

}  // namespace poise::objects
