// SPDX-License-Identifier: BSD-3-Clause
// Measures the CPU time of one decision of the balancer (poise/online/juggle_team.h) for 1,000
// threads on 64 to 256 cpus, in one memory domain and in eight. The readings of the threads come
// from memory, so the time to read /proc and to set affinities is not included. The goal is 1 ms
// per decision.
//
//     juggle_points_bench [--benchmark_...]
//
// The benchmark point/THREADS/CPUS/DOMAINS measures the decision at the end of a period. The
// benchmark reaction/THREADS/CPUS measures the decision when a thread begins to wait.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <vector>

#include "poise/online/juggle_team.h"

namespace {

using namespace poise;

constexpr double kPeriodS = 0.1;

/// A simulated program. Its threads compute all the time, threads on the same cpu share it equally,
/// and every thread moves as the balancer orders.
class Program {
 public:
  Program(std::uint32_t threads, std::uint32_t cpus) : cpu_of_(threads), on_(cpus, 0) {
    for (std::uint32_t t = 0; t < threads; ++t) {
      readings_.push_back({.key = t + 1});
      cpu_of_[t] = t % cpus;
      ++on_[cpu_of_[t]];
    }
  }
  const std::vector<ThreadReading>& run(double seconds) {
    for (std::size_t t = 0; t < readings_.size(); ++t) {
      const double share = 1.0 / on_[cpu_of_[t]];
      readings_[t].run_s += share * seconds;
      readings_[t].wait_s += (1 - share) * seconds;
    }
    return readings_;
  }
  void carry_out(const std::vector<JuggleOrder>& orders) {
    for (const JuggleOrder& order : orders) {
      if (!order.place) continue;
      std::uint32_t& cpu = cpu_of_[order.key - 1];
      --on_[cpu];
      cpu = *order.place;
      ++on_[cpu];
    }
  }

 private:
  std::vector<ThreadReading> readings_;
  std::vector<std::uint32_t> cpu_of_, on_;
};

void point(benchmark::State& state) {
  const std::uint32_t threads = state.range(0);
  const std::uint32_t cpus = state.range(1);
  const std::uint32_t domains = state.range(2);
  std::vector<JugglePlace> places(cpus);
  for (std::uint32_t p = 0; p < cpus; ++p) places[p].domain = p * domains / cpus;
  JuggleTeam team({.policy = JugglePolicy::proactive}, places);
  Program program(threads, cpus);
  double now_s = 0, moves = 0;
  for (int i = 0; i < 20; ++i, now_s += kPeriodS)  // until each thread has a cpu
    program.carry_out(team.balance(program.run(kPeriodS), now_s));
  for (auto _ : state) {
    state.PauseTiming();
    const auto& readings = program.run(kPeriodS);
    now_s += kPeriodS;
    state.ResumeTiming();
    const auto orders = team.balance(readings, now_s);
    state.PauseTiming();
    moves += orders.size();
    program.carry_out(orders);
    state.ResumeTiming();
  }
  state.counters["moves"] = moves / state.iterations();
}
BENCHMARK(point)->ArgsProduct({{1000}, {64, 128, 256}, {1, 8}})->Unit(benchmark::kMicrosecond);

/// Measures the balancer's decision when a thread begins to wait, in a team whose threads report
/// their waits.
void reaction(benchmark::State& state) {
  const std::uint32_t threads = state.range(0);
  const std::uint32_t cpus = state.range(1);
  JuggleTeam team({.policy = JugglePolicy::reactive}, std::vector<JugglePlace>(cpus));
  Program program(threads, cpus);
  double now_s = 0;
  for (int i = 0; i < 20; ++i, now_s += kPeriodS)  // until each thread has a cpu
    program.carry_out(team.balance(program.run(kPeriodS), now_s));
  std::vector<JuggleTeam::Wait> waits;
  for (std::uint64_t key = 1; key <= threads; ++key) waits.push_back({key});
  std::size_t next = 0;
  for (auto _ : state) {  // the next thread begins to wait, the previous one computes
    waits[next].report.is_inside = false;
    next = (next + 1) % threads;
    waits[next].report.is_inside = true;
    benchmark::DoNotOptimize(team.react_to(waits));
  }
}
BENCHMARK(reaction)->ArgsProduct({{8, 100, 1000}, {7, 64, 256}})->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
