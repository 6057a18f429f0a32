// SPDX-License-Identifier: BSD-3-Clause
// Measures the time to generate a workload of a million tasks of each kind, and how this time grows
// with the number of tasks.
#include <benchmark/benchmark.h>
#include <string>

#include "poise/workload/generate.h"

namespace poise {
namespace {

void generate_kind(benchmark::State& state, std::string_view recipe) {
  const Recipe parsed = parse_recipe(recipe);
  const TaskId num_tasks = state.range(0);
  std::size_t messages = 0;
  for (auto _ : state) {
    const auto phases = generate(parsed, num_tasks, 1);
    messages = phases.front().messages.size();
  }
  state.counters["messages"] = messages;
  state.SetItemsProcessed(state.iterations() * num_tasks);
}

void register_kinds() {
  for (const Kind& kind : kinds())
    benchmark::RegisterBenchmark(
        std::string(kind.name).c_str(),
        [&kind](benchmark::State& state) { generate_kind(state, kind.name); })
        ->Arg(10000)
        ->Arg(1000000)
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace poise

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  poise::register_kinds();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
