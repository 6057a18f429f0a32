#include "runtimes/objects/startup.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "runtimes/archive/archive.h"
#include "runtimes/objects/collectives.h"

namespace poise::objects {

namespace {

template <typename Archive>
void visit_options(Archive& archive, Options& o) {
  archive(o.name, o.strategy, o.period, o.is_automatic, o.expected_steps, o.placement, o.clock,
          o.mode, o.trace, o.timeline, o.log, o.budget_s, o.threads, o.place_per_thread,
          o.ranks_per_host, o.lend, o.seed, o.max_piece_bytes);
}

}  // namespace

void end_job_if(MPI_Comm comm, std::string problem_of_rank_0) {
  const std::string problem = broadcast_text(comm, std::move(problem_of_rank_0));
  if (problem.empty()) return;
  int rank = 0, similarity = MPI_UNEQUAL;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fprintf(stderr, "poise: %s\n", problem.c_str());
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &similarity);
  if (similarity == MPI_UNEQUAL) MPI_Abort(comm, 2);  // the other ranks would hang in MPI_Finalize
  MPI_Barrier(comm);
  MPI_Finalize();
  std::exit(2);
}

Options agreed_options(MPI_Comm comm, const Options& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Options agreed = options;
  std::string problem;
  std::vector<std::byte> bytes;
  try {
    if (rank == 0)
      agreed = with_environment(
          options, [](const char* name) { return static_cast<const char*>(std::getenv(name)); });
  } catch (const Error& error) {
    problem = error.what();
  }
  end_job_if(comm, problem);
  if (rank == 0) {
    Buffer buffer;
    Writer writer(buffer);
    visit_options(writer, agreed);
    bytes.assign(buffer.data(), buffer.data() + buffer.size());
  }
  broadcast_rows(comm, bytes);
  Reader reader(bytes);
  visit_options(reader, agreed);
  return agreed;
}

}  // namespace poise::objects
