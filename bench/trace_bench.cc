// SPDX-License-Identifier: BSD-3-Clause
// Measures how fast traces are read and written: in Poise's native format with up to 1M tasks and
// 6M messages, and in the formats of vt and METIS.
#include <benchmark/benchmark.h>
#include <filesystem>

#include "poise/base/file.h"
#include "poise/base/random.h"
#include "poise/trace/metis_graph.h"
#include "poise/trace/native.h"
#include "poise/trace/vt.h"

namespace poise {
namespace {

/// A trace of tasks in a cube on 1,024 places; each task sends to its six neighbours.
Trace cube(TaskId side) {
  const TaskId n = side * side * side;
  Trace trace;
  trace.num_places = 1024;
  Phase& phase = trace.phases.emplace_back();
  Random random(1);
  for (TaskId t = 0; t < n; ++t) {
    phase.workload.tasks.push_back({random.uniform(1e-4, 1e-2), 4096 + random.below(65536), true});
    for (const TaskId step : {1u, side, side * side})
      for (const TaskId to : {(t + step) % n, (t + n - step) % n})
        phase.workload.messages.push_back({t, to, 1 + random.below(4), 100 + random.below(10000)});
  }
  phase.placement = blocked(n, trace.num_places);
  return trace;
}

const Trace& cube_trace(std::int64_t side) {
  static std::map<std::int64_t, Trace> traces;
  auto found = traces.find(side);
  if (found == traces.end()) found = traces.emplace(side, cube(side)).first;
  return found->second;
}

void count(benchmark::State& state, const Trace& trace, std::size_t bytes) {
  state.counters["tasks"] = trace.phases[0].workload.tasks.size();
  state.counters["messages"] = trace.phases[0].workload.messages.size();
  state.counters["file_bytes"] = bytes;
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void native_write(benchmark::State& state) {
  const Trace& trace = cube_trace(state.range(0));
  const std::string path = std::filesystem::temp_directory_path() / "poise_trace_bench.poise";
  for (auto _ : state) write_file(path, native::write(trace));
  count(state, trace, std::filesystem::file_size(path));
  std::filesystem::remove(path);
}

void native_read(benchmark::State& state) {
  const Trace& trace = cube_trace(state.range(0));
  const std::string path = std::filesystem::temp_directory_path() / "poise_trace_bench.poise";
  write_file(path, native::write(trace));
  for (auto _ : state) benchmark::DoNotOptimize(read_trace(path));
  count(state, trace, std::filesystem::file_size(path));
  std::filesystem::remove(path);
}

/// A temporary folder with the files of a trace.
class VtFolder {
 public:
  VtFolder(const Trace& trace, bool compress)
      : folder_(std::filesystem::temp_directory_path() / "poise_trace_bench") {
    std::filesystem::create_directory(folder_);
    vt::write_files(trace, stem(), compress);
  }
  ~VtFolder() { std::filesystem::remove_all(folder_); }
  VtFolder(const VtFolder&) = delete;
  VtFolder& operator=(const VtFolder&) = delete;

  std::string stem() const { return folder_ / "data"; }
  std::size_t size() const {
    std::size_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) bytes += file.file_size();
    return bytes;
  }

 private:
  std::filesystem::path folder_;
};

void vt_write(benchmark::State& state) {
  const Trace& trace = cube_trace(state.range(0));
  const VtFolder folder(trace, state.range(1) != 0);
  for (auto _ : state) vt::write_files(trace, folder.stem(), state.range(1) != 0);
  count(state, trace, folder.size());
}

void vt_read(benchmark::State& state) {
  const Trace& trace = cube_trace(state.range(0));
  const VtFolder folder(trace, state.range(1) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(read_trace(folder.stem()));
  count(state, trace, folder.size());
}

void metis_read(benchmark::State& state) {
  const Trace& trace = cube_trace(state.range(0));
  const std::string text = metis::write_graph(trace);
  for (auto _ : state) benchmark::DoNotOptimize(metis::read_graph("bench", text));
  count(state, trace, text.size());
}

BENCHMARK(native_write)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(native_read)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(vt_write)->Args({40, 0})->Args({40, 1})->Unit(benchmark::kMillisecond);
BENCHMARK(vt_read)->Args({40, 0})->Args({40, 1})->Unit(benchmark::kMillisecond);
BENCHMARK(metis_read)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace poise

BENCHMARK_MAIN();
