// SPDX-License-Identifier: BSD-3-Clause
// Measures how long a running program needs to record an event.
#include <benchmark/benchmark.h>
#include <memory>

#include "poise/base/random.h"
#include "poise/workload/recorder.h"

namespace poise {
namespace {

std::unique_ptr<Recorder> recorder;

void set_up(const benchmark::State& state) {
  recorder = std::make_unique<Recorder>(std::vector<Task>(state.range(0)), 1);
}

void tear_down(const benchmark::State&) { recorder.reset(); }

/// Records when each task of a thread begins and when it ends, again and again in the same order.
/// Each begin and each end counts as one item.
void tasks_in_order(benchmark::State& state) {
  Recorder::Log& log = recorder->add_thread();
  const TaskId first = state.range(0) * state.thread_index() / state.threads();
  const auto last =
      static_cast<TaskId>(state.range(0) * (state.thread_index() + 1) / state.threads());
  double now_s = 0;
  TaskId task = first;
  for (auto _ : state) {
    log.begin(task, now_s);
    now_s += 1e-6;
    log.end(task, now_s);
    if (++task == last) task = first;
  }
  state.SetItemsProcessed(2 * state.iterations());
}

/// Records messages: each task in turn sends one to each of its six neighbours in a 3-D grid.
void messages_in_order(benchmark::State& state) {
  Recorder::Log& log = recorder->add_thread();
  const TaskId tasks = state.range(0);
  const TaskId steps[] = {1, tasks - 1, 100 % tasks, tasks - 100 % tasks, tasks / 2, tasks / 3};
  TaskId from = 0;
  for (auto _ : state) {
    for (const TaskId step : steps) log.message(from, (from + step) % tasks, 1000);
    if (++from == tasks) from = 0;
  }
  state.SetItemsProcessed(6 * state.iterations());
}

/// Measures the worst case for the recorder: consecutive messages belong to random pairs of tasks.
void messages_in_disorder(benchmark::State& state) {
  Recorder::Log& log = recorder->add_thread();
  const std::uint64_t tasks = state.range(0);
  std::vector<Message> sent(6 * tasks);
  Random random(1);
  for (Message& message : sent)
    message = {static_cast<TaskId>(random.below(tasks)), static_cast<TaskId>(random.below(tasks))};
  std::vector<std::uint32_t> order(1 << 16);
  for (auto& index : order) index = random.below(sent.size());
  std::size_t i = 0;
  for (auto _ : state) {
    const Message& message = sent[order[i]];
    log.message(message.from, message.to, 1000);
    i = (i + 1) % order.size();
  }
  state.SetItemsProcessed(state.iterations());
}

void end_of_phase(benchmark::State& state) {
  Recorder::Log& log = recorder->add_thread();
  const TaskId tasks = state.range(0);
  for (auto _ : state) {
    state.PauseTiming();
    for (TaskId t = 0; t < tasks; ++t)
      for (const TaskId step : {1u, 100u, 10000u}) log.message(t, (t + step) % tasks, 8);
    state.ResumeTiming();
    benchmark::DoNotOptimize(recorder->end_phase(0));
  }
  state.SetItemsProcessed(3 * tasks * state.iterations());
}

BENCHMARK(tasks_in_order)
    ->Arg(1000)
    ->Arg(100000)
    ->Setup(set_up)
    ->Teardown(tear_down)
    ->Threads(1)
    ->Threads(2);
BENCHMARK(messages_in_order)
    ->Arg(1000)
    ->Arg(100000)
    ->Setup(set_up)
    ->Teardown(tear_down)
    ->Threads(1)
    ->Threads(2);
BENCHMARK(messages_in_disorder)->Arg(1000)->Arg(100000)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(end_of_phase)
    ->Arg(100000)
    ->Setup(set_up)
    ->Teardown(tear_down)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace poise

BENCHMARK_MAIN();
