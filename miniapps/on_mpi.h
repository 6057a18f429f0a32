// SPDX-License-Identifier: BSD-3-Clause
// Runs a program that consists of objects on MPI ranks: parses the options, runs the steps, prints
// the results.
#pragma once

#include <cstdio>
#include <mpi.h>

#include "miniapps/on_openmp.h"
#include "runtimes/objects/collection.h"

namespace poise::miniapps {

/// Prints the results in the format that tests and benchmarks parse. Collective; rank 0 prints.
template <typename T>
void print_results(objects::Collection<T>& objects, std::uint64_t iterations) {
  const objects::Totals totals = objects.totals();
  if (objects.rank() != 0) return;
  fmt::print("{} iterations of {} objects on {} ranks: {:.4f} s, {:.2f} iterations/s\n", iterations,
             objects.num_objects(), objects.num_ranks(), totals.wall_s, iterations / totals.wall_s);
  fmt::print(
      "imbalance {:.3f}, efficiency {:.3f}; {} migrations of {} bytes in {:.4f} s, decided "
      "in {:.4f} s\n",
      totals.load_s > 0 ? totals.busiest_s * objects.num_ranks() / totals.load_s : 1,
      totals.efficiency, totals.migrations, totals.migrated_bytes, totals.migration_s,
      totals.decision_s);
  if (totals.phase_steps == 0) return fmt::print("no step since the last decision\n");
  const double phase_iterations = 1.0 * (totals.phase_steps * iterations) / totals.steps;
  fmt::print("since the last decision: imbalance {:.3f}, efficiency {:.3f}, {:.4f} ms/iteration\n",
             totals.phase_imbalance, totals.phase_efficiency,
             1000 * totals.phase_wall_s / phase_iterations);
}

/// Runs all steps. Collective. Rank 0 checks and prints the results, and returns false if they are
/// wrong; other ranks return true.
template <Program P>
bool run_objects(const P& program, objects::CollectionOptions options) {
  if constexpr (requires { program.waits(); })
    if (program.waits()) options.clock = objects::Clock::wall;
  if constexpr (requires { program.subphase_of(std::uint64_t{}); })
    options.subphase_of_step = [&](std::uint64_t step) { return program.subphase_of(step); };
  options.name = P::kName;
  const auto sum_of = [&](const auto& object) { return program.sum_of(object); };
  using Object = decltype(program.object(0));
  objects::Collection<Object> objects(
      MPI_COMM_WORLD, program.num_objects(), [&](ObjectId id) { return program.object(id); },
      options);
  const auto first = objects.sum(sum_of);
  objects.run(program.steps());
  const auto last = objects.sum(sum_of);
  print_results(objects, program.iterations);
  return objects.rank() != 0 || are_right(program, first, last);
}

/// Runs a program whose options have been parsed. Returns the exit status: 0, 1 if the results are
/// wrong, or 2 for settings that contradict each other.
template <Program P>
int status_of_run(P& program, const objects::CollectionOptions& options, const ByOpenMP& by_openmp,
                  int rank) {
  try {
    if constexpr (requires { program.prepare(); }) program.prepare();
    int num_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    if (by_openmp.wanted && num_ranks > 1)
      fail("--openmp runs on one rank, but this job has {} ranks; start it with one", num_ranks);
    if (by_openmp.wanted) return run_by_openmp(program, by_openmp) ? 0 : 1;
    return run_objects(program, options) ? 0 : 1;
  } catch (const Error& error) {
    if (rank == 0) fmt::print(stderr, "{}: {}\n", P::kName, error.what());
    return 2;
  }
}

/// The main function of a program. Only rank 0 prints. Returns the exit status: 0, 1 if the results
/// are wrong, or 2 for bad usage.
template <Program P>
int run_on_mpi(int argc, char** argv) {
  int threads = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  P program;
  objects::CollectionOptions options;
  ByOpenMP by_openmp;
  Arguments arguments(P::kSummary, P::kName);
  program.add_options(arguments);
  arguments.add("--steps", program.iterations, "number of iterations", 1, 1000000000);
  arguments.add("--placement", options.placement,
                "initial placement of objects: blocked, round_robin, random or uneven");
  by_openmp.add_options(arguments);
  arguments.set_footer(
      "Environment variables control balancing: POISE_STRATEGY, POISE_PERIOD, POISE_TRACE, "
      "POISE_LOG.");
  const auto over = arguments.parse(argc, argv);
  if (over && rank == 0) print(*over);
  const int status = over ? over->status : status_of_run(program, options, by_openmp, rank);
  std::fflush(stdout);
  MPI_Finalize();
  return status;
}

}  // namespace poise::miniapps
