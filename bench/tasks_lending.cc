// SPDX-License-Identifier: BSD-3-Clause
// Measures the gain of lending when rank 0 has all tasks, and its cost when all ranks have equal
// work. Four kinds of runs alternate: without lending, with lending, with tasks split by hand, and
// with OpenMP tasks. Rank 0 prints one line of JSON.
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory_resource>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "bench/tasks/timed_work.h"
#include "miniapps/arguments.h"
#include "runtimes/tasks/context.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace {

namespace tasks = poise::tasks;
using poise::process_cpu_now_s, poise::wall_now_s;
using poise::bench::calibrate, poise::bench::compute_us;

// The function is not inlined, so that lent tasks and OpenMP tasks run the same code.
[[gnu::noinline]] void compute_for(std::span<const char> data, std::span<char> result, double us) {
  compute_us(us);
  if (!result.empty()) result[0] = data.empty() ? 'x' : data[0];
}
void sleep_for(std::span<const char>, std::span<char>, double us) { poise::bench::sleep_us(us); }
const auto kCompute = tasks::function("compute", compute_for);
const auto kSleep = tasks::function("sleep", sleep_for);

// Stores the time at which the task starts. All ranks of a host share this clock.
const auto kWhen = tasks::function("when", [](std::span<const char>, std::span<double> began_s) {
  began_s[0] = wall_now_s();
  compute_us(100);
});

struct Case {
  int num_tasks = 200, repeats = 5;
  unsigned threads = 1;
  double us = 5000;
  std::size_t bytes_in = 64, bytes_out = 64;
  bool sleep = false, balanced = false, shared = false, start = false;
  std::string settings;
};

using Item = std::pmr::vector<char>;

// The seconds of the runs of one kind (such as those with lending), and for each run the CPU
// seconds averaged over the ranks.
struct Runs {
  std::vector<double> seconds, cpu_s;
  double best_s() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double cores_per_rank() const {
    return std::accumulate(cpu_s.begin(), cpu_s.end(), 0.0) /
           std::accumulate(seconds.begin(), seconds.end(), 0.0);
  }
};

// Runs `part` on all ranks, which start together. Stores the seconds until the last rank has
// finished, and the CPU seconds averaged over the ranks.
template <typename Part>
void take_time(Runs& runs, Part part) {
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  double cpu = 0;
  const double seconds = poise::bench::seconds_of([&] {
    const double begin_cpu_s = process_cpu_now_s();
    part();
    cpu = process_cpu_now_s() - begin_cpu_s;
  });
  MPI_Allreduce(MPI_IN_PLACE, &cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  runs.seconds.push_back(seconds);
  runs.cpu_s.push_back(cpu / num_ranks);
}

void run(tasks::Context& context, const Case& what, std::span<Item> data) {
  for (auto& item : data) {
    const auto all = std::span(item);
    context.submit(what.sleep ? kSleep : kCompute, tasks::in(all.first(what.bytes_in)),
                   tasks::out(all.last(what.bytes_out)), what.us);
  }
  context.wait();
}

void run_by_openmp(const Case& what, std::span<Item> data, [[maybe_unused]] unsigned threads) {
  if (data.empty()) return;
  const auto task = what.sleep ? sleep_for : compute_for;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (auto& item : data) {
#pragma omp task shared(item, what) firstprivate(task)
    task(std::span(item).first(what.bytes_in), std::span(item).last(what.bytes_out), what.us);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns the median speed of runs with lending relative to the runs `other`. Each run with
// lending is compared with the run of `other` in the same repeat, because the host changed little
// between these two runs.
double share_of(const Runs& other, const Runs& lent) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < lent.seconds.size(); ++i)
    shares.push_back(other.seconds[i] / lent.seconds[i]);
  return median(shares);
}

struct Ways {
  Runs alone, lent;  // runs without and with lending
  // Runs with tasks split by hand. Their times show how fast the host was while the other runs
  // took place.
  Runs even;
  Runs openmp;  // runs with OpenMP tasks: in one process or, with --balanced, in every process
};

Ways measure_in_turns(const Case& what, int rank, int num_ranks, tasks::Context& without,
                      tasks::Context& with) {
  auto* const memory = what.shared ? with.memory() : std::pmr::new_delete_resource();
  std::vector<Item> data;
  const int share = what.balanced ? what.num_tasks : what.num_tasks / num_ranks;
  const int own = rank == 0 ? what.num_tasks : what.balanced ? share : 0;
  for (int i = 0; i < std::max(own, share); ++i)
    data.emplace_back(what.bytes_in + what.bytes_out, '\0', memory);
  const auto owned = std::span(data).first(own);
  const auto dealt = std::span(data).first(share);
  const unsigned all_threads = what.threads * (what.balanced ? 1 : num_ranks);
  Ways ways;
  const std::function<void()> turns[] = {
      [&] { take_time(ways.openmp, [&] { run_by_openmp(what, owned, all_threads); }); },
      [&] { take_time(ways.lent, [&] { run(with, what, owned); }); },
      [&] { take_time(ways.alone, [&] { run(without, what, owned); }); },
      [&] { take_time(ways.even, [&] { run(without, what, dealt); }); }};
  const std::size_t last = std::size(turns) - 1;
  for (int i = 0; i < what.repeats; ++i)  // every second repeat runs in reverse order
    for (std::size_t t = 0; t <= last; ++t) turns[i % 2 == 0 ? t : last - t]();
  return ways;
}

void measure(const Case& what) {
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  calibrate();
  tasks::Context without(MPI_COMM_WORLD, {what.threads, "policy=none"});
  tasks::Context with(MPI_COMM_WORLD, {what.threads, what.settings});
  const auto [alone, lent, even, openmp] = measure_in_turns(what, rank, num_ranks, without, with);
  const std::string summary = with.summary();
  if (rank != 0) return;
  const double ideal_s =
      what.us * 1e-6 * what.num_tasks / (what.balanced ? 1 : num_ranks) / what.threads;
  const nlohmann::json line = {{"np", num_ranks},
                               {"threads", what.threads},
                               {"tasks", what.num_tasks},
                               {"us", what.us},
                               {"bytes_in", what.bytes_in},
                               {"bytes_out", what.bytes_out},
                               {"sleep", what.sleep},
                               {"balanced", what.balanced},
                               {"shared", what.shared},
                               {"without_s", alone.best_s()},
                               {"with_s", lent.best_s()},
                               {"gain", alone.best_s() / lent.best_s()},
                               {"of_ideal", ideal_s / lent.best_s()},
                               {"median_gain", median(alone.seconds) / median(lent.seconds)},
                               {"with_each_s", lent.seconds},
                               {"even_s", even.best_s()},
                               {"host_gain", alone.best_s() / even.best_s()},
                               {"of_host", share_of(even, lent)},
                               {"openmp_s", openmp.best_s()},
                               {"of_openmp_best", openmp.best_s() / lent.best_s()},
                               {"of_openmp", share_of(openmp, lent)},
                               {"cores_without", alone.cores_per_rank()},
                               {"cores_with", lent.cores_per_rank()},
                               {"settings", what.settings}};
  std::cout << line.dump() << '\n' << std::flush;
  std::cerr << summary;
}

// Measures the seconds between the decision to lend a task and the start of this task on another
// rank. At any time there is only one task that may be lent.
void measure_start(const Case& what) {
  calibrate();
  double decided_s = 0;
  tasks::Policy policy;
  policy.decide = [&](const poise::LendingView& view) {
    decided_s = wall_now_s();
    return std::vector<poise::Loan>{{view.others.front().rank, 1, {}}};
  };
  tasks::Context context(MPI_COMM_WORLD, {what.threads, what.settings, policy});
  auto* const memory = what.shared ? context.memory() : std::pmr::new_delete_resource();
  const Item data(context.rank() == 0 ? what.bytes_in : 0, '\0', memory);
  std::vector<double> took_us;
  for (int i = 0; i < what.num_tasks; ++i) {
    std::vector<double> began_s(1);
    int ran_on = 0;
    tasks::With with;
    with.on_lend = [&](std::span<tasks::Item>) { ran_on = 1; };
    decided_s = 0;
    // At first, a pinned task keeps rank 0 busy. Meanwhile the other rank sends its steal request.
    if (context.rank() == 0) {
      const double us = 500;
      context.submit({.pinned = true}, kCompute, tasks::in(Item()), tasks::out(Item()), us);
      context.submit(std::move(with), kWhen, tasks::in(data), tasks::out(began_s));
    }
    context.wait();
    if (ran_on > 0) took_us.push_back((began_s[0] - decided_s) * 1e6);
  }
  if (context.rank() > 0 || took_us.empty()) return;
  std::sort(took_us.begin(), took_us.end());
  const nlohmann::json line = {{"start_us", median(took_us)}, {"least_us", took_us.front()},
                               {"lent", took_us.size()},      {"tasks", what.num_tasks},
                               {"bytes_in", what.bytes_in},   {"shared", what.shared},
                               {"settings", what.settings}};
  std::cout << line.dump() << '\n' << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  Case what;
  poise::miniapps::Arguments arguments("What lending gains when rank 0 has all tasks",
                                       "tasks_lending");
  arguments.add("--tasks", what.num_tasks, "number of tasks of rank 0", 1, 100000000);
  arguments.add("--us", what.us, "length of a task in microseconds", 0, 1e9);
  arguments.add("--in", what.bytes_in, "bytes that a task reads", 0, 1ULL << 40);
  arguments.add("--out", what.bytes_out, "bytes that a task writes", 0, 1ULL << 40);
  arguments.add("--threads", what.threads, "threads per rank", 1, 10000);
  arguments.add("--repeats", what.repeats, "number of runs of each kind", 1, 1000000);
  arguments.add("--settings", what.settings, "settings of the context that lends");
  arguments.add_flag("--sleep", what.sleep,
                     "tasks sleep instead of computing, so ranks may outnumber cores");
  arguments.add_flag("--balanced", what.balanced, "every rank has as many tasks as rank 0");
  arguments.add_flag("--shared", what.shared,
                     "the data are in memory that the ranks of a node share");
  arguments.add_flag("--start", what.start,
                     "measure the time from the decision to lend a task to its start");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int status = 0;
  try {
    what.start ? measure_start(what) : measure(what);
  } catch (const poise::Error& error) {  // thrown on all ranks, as all have the same settings
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::cerr << "tasks_lending: " << error.what() << '\n';
    status = 2;
  }
  MPI_Finalize();
  return status;
}
