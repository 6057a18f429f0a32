// SPDX-License-Identifier: BSD-3-Clause
// Measures how long each strategy of Poise takes for one decision, in CPU seconds of all its
// threads, including the construction of the adjacency lists. The input is a 3-D stencil with
// log-normal loads, in which one octant is three times as heavy; tasks are placed in blocks.
//
//     decide_bench [--strategies=nuco,greedy_comm:comm=2] [--benchmark_...]
//
// The benchmarks are named decide/STRATEGY/TASKS/PLACES and growth/STRATEGY/TASKS/PLACES. The
// decide/ benchmarks have the sizes for which Poise has a goal; the growth/ benchmarks have 30
// tasks per place and 1k to 1M tasks. If a benchmark would take more than a minute, by
// extrapolation from the previous size, it is skipped with a message. Counters give the quality of
// the placement, the peak memory of the process during the decision (which includes the workload),
// and the part of this memory that the decision added.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace {

using namespace poise;

constexpr double kMaxSeconds = 60;

struct Size {
  TaskId tasks;
  std::uint32_t places;
};
constexpr Size kGoals[] = {{10'000, 1'024}, {100'000, 1'024}, {1'000'000, 32'768}};
constexpr Size kGrowth[] = {{1'000, 32},     {4'000, 128},     {16'000, 512},
                            {64'000, 2'048}, {256'000, 8'192}, {1'000'000, 32'768}};

struct Instance {
  explicit Instance(Size of)
      : size(of),
        machine(machine_from_text(
            fmt::format("node:{} numa:2 core:16 factors:10,1.5,1", of.places / 32))),
        workload(std::move(
            generate(parse_recipe("stencil3d:skew=lognormal,spread=0.5,hot=3,hot_extent=0.5"),
                     of.tasks, 1)
                .front())),
        current(blocked(workload.num_tasks(), of.places)) {}

  Size size;
  Machine machine;
  Workload workload;
  Placement current;
};

/// Keeps only one workload in memory, because the largest takes 200 MB.
const Instance& instance(Size size) {
  static std::unique_ptr<Instance> kept;
  if (kept == nullptr || kept->size.tasks != size.tasks || kept->size.places != size.places) {
    kept.reset();
    kept = std::make_unique<Instance>(size);
  }
  return *kept;
}

/// Resets the peak memory that Linux records for this process (VmHWM).
void restart_peak() { std::ofstream("/proc/self/clear_refs") << 5; }
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::atof(word.c_str()) / 1024;
  return 0;
}

void add_counters(benchmark::State& state, const Problem& problem, const Placement& placed) {
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, placed);
  std::size_t cut = 0;
  for (const Message& message : problem.workload.messages)
    cut += placed.of(message.from) != placed.of(message.to);
  state.counters["imbalance"] = metrics.imbalance;
  state.counters["iteration_s"] = metrics.iteration_s;
  state.counters["nuco_messages"] = metrics.nuco_messages;
  state.counters["migrations"] = metrics.migrations;
  state.counters["cut"] = 1.0 * cut / problem.workload.messages.size();
}

void decide(benchmark::State& state, const Choice& choice, Size size) {
  static std::map<std::string, double> seconds_per_task;
  double& last = seconds_per_task[choice.text()];
  if (last * size.tasks > kMaxSeconds) {
    state.SkipWithError(
        fmt::format("over {} s, going by {:.3g} s per task", kMaxSeconds, last).c_str());
    return;
  }
  const Instance& now = instance(size);
  const Problem problem{now.machine, now.workload, now.current, now.machine.costs(), 1};
  Placement placed;
  malloc_trim(0);  // returns freed memory, so that the memory of the decision can be measured
  restart_peak();
  const double before_mb = peak_mb();
  const double start_s = process_cpu_now_s();
  try {
    for (auto _ : state) placed = choice.rebalance(problem);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return;
  }
  last = (process_cpu_now_s() - start_s) / state.iterations() / size.tasks;
  state.counters["peak_MB"] = peak_mb();
  state.counters["decision_MB"] = peak_mb() - before_mb;
  add_counters(state, problem, placed);
}

void register_all(const std::vector<Choice>& choices, std::string_view group,
                  std::span<const Size> sizes) {
  for (const Size size : sizes)
    for (const Choice& choice : choices)
      benchmark::RegisterBenchmark(
          fmt::format("{}/{}/{}/{}", group, choice.text(), size.tasks, size.places).c_str(),
          [choice, size](benchmark::State& state) { decide(state, choice, size); })
          ->MeasureProcessCPUTime()
          ->Unit(benchmark::kMillisecond);
}

std::vector<Choice> choices_of(int argc, char** argv) {
  constexpr std::string_view kOption = "--strategies=";
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).starts_with(kOption))
      return parse_strategies(std::string_view(argv[i]).substr(kOption.size()));
  std::vector<Choice> all;
  for (const Strategy& strategy : strategies())
    if (!strategy.is_oracle) all.push_back({&strategy, Knobs(strategy.knobs)});
  all.push_back(parse_strategy("poise:from_scratch=1"));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  try {
    const std::vector<Choice> choices = choices_of(argc, argv);
    register_all(choices, "decide", kGoals);
    register_all(choices, "growth", kGrowth);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  } catch (const Error& error) {
    fmt::print(stderr, "decide_bench: {}\n", error.what());
    return 2;
  }
}
