// SPDX-License-Identifier: BSD-3-Clause
// Measures what a Charm++ balancer costs in addition to its strategy: the conversion of Charm++'s
// statistics to a workload, and of the placement to PEs. The input is a 3-D stencil in the order in
// which Charm++ delivers its statistics: objects are sorted by PE but shuffled within each PE, and
// messages are shuffled.
//
// The benchmark convert/STRATEGY/TASKS/PLACES measures the CPU time of the conversion alone. Its
// counter `share` is this time divided by the strategy's own time on the same workload. For
// strategies that ignore messages, no messages are converted.
//
// The benchmark memory/STRATEGY/TASKS/PLACES calls the balancer three times, as Charm++ does: later
// decisions need more memory, because a balancer keeps the loads of earlier ones. The counter MB is
// the maximum memory of a decision, without the memory of Charm++'s own statistics. The benchmark
// frees the records of messages while it reads them, as the balancer does in Charm++ 7 and 8.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <string>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/consume.h"
#include "runtimes/charm/convert.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace {

using namespace poise;
using namespace poise::charm;

template <typename Row>
void shuffle(std::vector<Row>& rows, Random& random) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
}

struct Rows {
  Machine machine;
  PeMap pe_map;
  std::vector<double> speeds;
  Statistics statistics;
};

/// The index of an element as Charm++ packs it: three coordinates of 16 bits.
ObjectName name_of(TaskId t, TaskId side) {
  return {
      t % side + (std::uint64_t{t / side % side} << 16) + (std::uint64_t{t / side / side} << 32),
      7};
}

constexpr const char* kUsual = "stencil3d:skew=lognormal,spread=0.5,hot=3,hot_extent=0.5";
/// In this workload, loads and messages are so large that the strategy `poise` partitions the graph
/// of all objects.
constexpr const char* kHeavyMessages =
    "stencil3d:skew=lognormal,spread=0.5,hot=3,hot_extent=0.5,load_s=0.01,message_bytes=1e7";

Rows rows_of(TaskId tasks, std::uint32_t places, const char* recipe) {
  const Workload workload = generate(parse_recipe(recipe), tasks, 1).front();
  const Placement current = blocked(tasks, places);
  TaskId side = 1;
  while (side * side * side < tasks) ++side;
  Rows rows{flat_machine(places), {}, std::vector<double>(places, 1), {}};
  rows.pe_map.pe_of_place.resize(places);
  std::iota(rows.pe_map.pe_of_place.begin(), rows.pe_map.pe_of_place.end(), 0);
  rows.pe_map.place_of_pe = rows.pe_map.pe_of_place;
  rows.statistics.pes.resize(places);
  Random random(1);
  for (TaskId t = 0; t < tasks; ++t)
    rows.statistics.objects.emplace_back(name_of(t, side), workload.tasks[t].load_s, 0,
                                         current.of(t), true);
  shuffle(rows.statistics.objects, random);
  std::stable_sort(rows.statistics.objects.begin(), rows.statistics.objects.end(),
                   [](const ObjectRow& a, const ObjectRow& b) { return a.pe < b.pe; });
  for (const Message& message : workload.messages)
    rows.statistics.messages.emplace_back(name_of(message.from, side), name_of(message.to, side),
                                          -1, 0, 0, message.count, message.bytes);
  shuffle(rows.statistics.messages, random);
  return rows;
}

/// Returns the minimum of the strategy's times in five runs.
double decision_s(const Choice& choice, const Rows& rows, const Converted& converted) {
  const Problem problem{rows.machine, converted.phase.workload, converted.phase.current,
                        rows.machine.costs(), 1};
  double least_s = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start_s = wall_now_s();
    benchmark::DoNotOptimize(choice.rebalance(problem));
    least_s = std::min(least_s, wall_now_s() - start_s);
  }
  return least_s;
}

void convert(benchmark::State& state, const std::string& name, TaskId tasks, std::uint32_t places) {
  const Rows rows = rows_of(tasks, places, kUsual);
  const Choice choice = parse_strategy(name);
  const Messages messages =
      choice.strategy->ignores_messages ? Messages::leave_out : Messages::convert;
  double least_s = 1e9;
  for (auto _ : state) {
    const double start_s = wall_now_s();
    const Converted result = converted(rows.statistics, rows.pe_map, rows.speeds, messages);
    benchmark::DoNotOptimize(
        pes_of(result.phase.current, result.row_of_task, rows.statistics, rows.pe_map));
    least_s = std::min(least_s, wall_now_s() - start_s);
  }
  const Converted result = converted(rows.statistics, rows.pe_map, rows.speeds, messages);
  state.counters["decision_ms"] = 1e3 * decision_s(choice, rows, result);
  state.counters["share"] = 1e3 * least_s / state.counters["decision_ms"];
}

/// Returns a field of this process's status, such as VmRSS, in MB.
double status_mb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kib = 0; word == field + ":" && status >> kib) return kib * 1024 / 1e6;
  return 0;
}

/// Resets VmHWM: from now on it is the maximum of VmRSS since this call.
void forget_maximum() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

void memory(benchmark::State& state, const std::string& name, TaskId tasks, std::uint32_t places,
            const char* recipe = kUsual) {
  Rows rows = rows_of(tasks, places, recipe);
  const std::vector<MessageRow> records = std::move(rows.statistics.messages);
  const std::vector<ObjectRow> objects = std::move(rows.statistics.objects);
  rows.statistics.messages = {};
  rows.statistics.objects = {};
  Balancer balancer(0, name);
  double most_mb = 0;
  for (auto _ : state) {
    std::vector<MessageRow> held = records;
    forget_maximum();
    const double before_mb = status_mb("VmRSS");
    Statistics statistics = rows.statistics;
    statistics.more_objects = {objects.size(), [&objects](std::size_t i) { return objects[i]; }};
    statistics.more_messages = {held.size(),
                                [&held](const MessageVisitor& visit) {
                                  consume(held, [&](const MessageRow& row) { visit(row, {}); });
                                },
                                true};
    const Decision decision = balancer.decide(statistics);
    if (!decision.warning.empty()) state.SkipWithError(decision.warning.c_str());
    most_mb = std::max(most_mb, status_mb("VmHWM") - before_mb);
  }
  state.counters["MB"] = most_mb;
  state.counters["messages"] = static_cast<double>(records.size());
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const char* name : {"greedy", "greedy_comm", "nuco", "poise"})
    for (const auto& [tasks, places] : {std::pair{100'000u, 64u}, std::pair{100'000u, 1024u}})
      benchmark::RegisterBenchmark(
          ("convert/" + std::string(name) + "/" + std::to_string(tasks) + "/" +
           std::to_string(places))
              .c_str(),
          [name, tasks, places](benchmark::State& state) { convert(state, name, tasks, places); })
          ->MinTime(0.2)
          ->Unit(benchmark::kMillisecond);
  for (const char* name : {"greedy_refine", "nuco", "poise"})
    benchmark::RegisterBenchmark(
        ("memory/" + std::string(name) + "/1000000/64").c_str(),
        [name](benchmark::State& state) { memory(state, name, 1'000'000, 64); })
        ->Iterations(3)
        ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(
      "memory/poise/1000000/64/heavy_messages",
      [](benchmark::State& state) { memory(state, "poise", 1'000'000, 64, kHeavyMessages); })
      ->Iterations(3)
      ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}
