// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/startup.h"

#include <cstdlib>
#include <fmt/format.h>
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

/// Returns an error unless all ranks or none have set subphase_of_step: otherwise the ranks that
/// have set it would wait for values that the others do not send.
std::string problem_of_subphases(MPI_Comm comm, const CollectionOptions& options) {
  double counts[] = {options.subphase_of_step ? 1.0 : 0.0, 1.0};
  sum_over_ranks(comm, counts);
  if (counts[0] == 0 || counts[0] == counts[1]) return "";
  return fmt::format("objects: {} of {} ranks set subphase_of_step; set it on all ranks or on none",
                     counts[0], counts[1]);
}

}  // namespace

CollectionOptions agreed_options(MPI_Comm comm, const CollectionOptions& options) {
  tasks::end_job_on_uncaught_errors();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  tasks::end_job_on_error(comm, problem_of_subphases(comm, options));
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
