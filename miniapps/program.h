// What all programs on objects share: options, a start that may be skewed, and the last lines.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/core.h>
#include <functional>
#include <mpi.h>
#include <string>

#include "runtimes/objects/collection.h"

namespace poise::miniapps {

/// Options that every program has.
struct Common {
  std::uint64_t steps = 0;
  objects::Options objects;  // name and placement; balancing is up to the environment
};

inline bool is_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

/// One line of results per program, in a form that tests and benchmarks compare.
template <typename T>
void print_results(objects::Collection<T>& objects, std::uint64_t iterations, double checksum) {
  const objects::Totals totals = objects.totals();
  if (objects.rank() != 0) return;
  fmt::print("{} iterations of {} objects on {} ranks: {:.4f} s, {:.2f} iterations/s\n", iterations,
             objects.num_objects(), objects.num_ranks(), totals.wall_s,
             static_cast<double>(iterations) / totals.wall_s);
  fmt::print(
      "imbalance {:.3f}, efficiency {:.3f}; {} migrations of {} bytes in {:.4f} s, decided "
      "in {:.4f} s\n",
      totals.load_s > 0 ? totals.busiest_s * objects.num_ranks() / totals.load_s : 1,
      totals.efficiency, totals.migrations, totals.migrated_bytes, totals.migration_s,
      totals.decision_s);
  fmt::print("since the last decision: imbalance {:.3f}, efficiency {:.3f}\n",
             totals.phase_imbalance, totals.phase_efficiency);
  fmt::print("checksum {:.17g}\n", checksum);
  std::fflush(stdout);
}

/// An option that says its usual value and refuses what is outside least to most.
template <typename Value, typename Bound>
void add_option(CLI::App& app, const char* name, Value& value, const char* help, Bound least,
                Bound most) {
  app.add_option(name, value, help)->capture_default_str()->check(CLI::Range(least, most));
}

/// A program: adds its options to `app` before they are read, then runs. Rank 0 alone speaks; bad
/// usage ends with status 2 everywhere.
inline int run_program(int argc, char** argv, CLI::App& app, Common& common,
                       const std::function<void()>& run) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  common.objects.name = app.get_name();
  add_option(app, "--steps", common.steps, "iterations", 1, 1000000000);
  app.add_option("--placement", common.objects.placement,
                 "where objects start: blocked, round_robin, random or uneven")
      ->capture_default_str();
  app.footer(
      "The environment steers balancing: POISE_STRATEGY, POISE_PERIOD, POISE_TRACE, POISE_LOG.");
  int status = 0;
  try {
    app.parse(argc, argv);
    run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      if (is_first()) app.exit(error);
    } else {
      if (is_first()) fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
      status = 2;
    }
  } catch (const Error& error) {
    if (is_first()) fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    status = 2;
  }
  MPI_Finalize();
  return status;
}

}  // namespace poise::miniapps
