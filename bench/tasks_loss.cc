// SPDX-License-Identifier: BSD-3-Clause
// Measures what lending can lose. Runs without lending and with lending take turns in pairs; both
// runs of a pair meet the same competitor for the cores, if there is one. Rank 0 prints one line of
// JSON.
#include <iostream>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/tasks/timed_work.h"
#include "miniapps/arguments.h"
#include "runtimes/tasks/context.h"

#include "poise/base/random.h"

namespace {

namespace bench = poise::bench;
namespace tasks = poise::tasks;

struct Case {
  int tasks = 200, pairs = 50;
  double us = 100, spread = 0;
  bool balanced = false, busy = false;
};

const auto kCompute =
    tasks::function("compute", [](std::span<const char> data, std::span<char> result, double us) {
      bench::compute_us(us);
      result[0] = data[0];
    });

// The tasks of this rank in one run: their data, and their lengths.
struct Work {
  std::vector<char> data;
  std::vector<double> us;
};

Work work_of(const Case& what, int rank, std::uint64_t seed) {
  constexpr std::size_t kBytes = 128;
  Work work;
  const std::size_t own = static_cast<std::size_t>(rank == 0 || what.balanced ? what.tasks : 0);
  work.data.resize(kBytes * own);
  poise::Random random(2 * seed + static_cast<std::uint64_t>(rank));
  for (std::size_t t = 0; t < own; ++t)
    work.us.push_back(what.us * random.uniform(1 - what.spread, 1 + what.spread));
  return work;
}

double time_once(tasks::Context& context, const Case& what, Work& work, std::uint64_t seed) {
  std::optional<bench::Competitor> competitor;
  if (what.busy && context.rank() == 0) competitor.emplace(seed);
  const auto all = std::span(work.data);
  return bench::seconds_of([&] {
    for (std::size_t t = 0; t < work.us.size(); ++t) {
      const auto data = all.subspan(128 * t, 128);
      context.submit(kCompute, tasks::in(data.first(64)), tasks::out(data.last(64)), work.us[t]);
    }
    context.wait();
  });
}

// Returns, for each pair of runs, the seconds without and with lending. All pairs use the same two
// contexts, so what lending learns in a disturbed run affects later runs, as in a real program.
std::vector<std::pair<double, double>> measure(const Case& what, int rank) {
  tasks::Context without(MPI_COMM_WORLD, {.settings = "policy=none"}), with(MPI_COMM_WORLD);
  std::vector<std::pair<double, double>> pairs;
  for (int i = 0; i < what.pairs; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Work work = work_of(what, rank, seed);
    const bool with_first = i % 2 == 1;  // in every second pair, the run with lending comes first
    double with_s = with_first ? time_once(with, what, work, seed) : 0;
    const double without_s = time_once(without, what, work, seed);
    if (!with_first) with_s = time_once(with, what, work, seed);
    pairs.emplace_back(without_s, with_s);
  }
  return pairs;
}

}  // namespace

int main(int argc, char** argv) {
  Case what;
  poise::miniapps::Arguments arguments("What lending can lose", "tasks_loss");
  arguments.add("--tasks", what.tasks, "number of tasks of rank 0, or of each rank with --balanced",
                1, 100000000);
  arguments.add("--us", what.us, "mean length of a task in microseconds", 0, 1e9);
  arguments.add("--spread", what.spread,
                "largest deviation from the mean length, as a fraction of it", 0, 1);
  arguments.add("--pairs", what.pairs, "number of runs of each kind", 1, 1000000);
  arguments.add_flag("--balanced", what.balanced, "every rank has as many tasks as rank 0");
  arguments.add_flag("--busy", what.busy,
                     "a competing thread computes in bursts on the same cores");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  int level = 0, rank = 0, num_ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  bench::calibrate();
  const auto pairs = measure(what, rank);
  if (rank == 0)
    std::cout << nlohmann::json{{"np", num_ranks},   {"tasks", what.tasks},
                                {"us", what.us},     {"spread", what.spread},
                                {"busy", what.busy}, {"balanced", what.balanced},
                                {"pairs_s", pairs}}
                     .dump()
              << '\n';
  MPI_Finalize();
  return 0;
}
