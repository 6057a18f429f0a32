// SPDX-License-Identifier: BSD-3-Clause
// Time-outs, sizes and error margins for the measurements of the thread balancer. The constants for
// its decisions are in poise/online/juggle_tuning.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace poise::juggle {

struct Tuning {
  // --- Time-outs ---
  //
  // Seconds between two checks of things that rarely change: new processes, the affinities of
  // threads that are not pinned, ended children, and whether the guard is alive. In the first
  // check_s seconds, affinities are checked in every round, because most programs bind their
  // threads early. After check_s seconds under a policy that reacts to waits, the user is told if a
  // process does not report the waits of its threads.
  double check_s = 1;
  // Minimum seconds between two scans of /proc for threads. A scan costs 20 to 100 us.
  double min_scan_s = 0.05;
  // Seconds from one scan to the next, as a fraction of the time for which the program has run.
  double scan_share = 0.1;
  // Seconds from one count of the threads of known processes to the next, as a fraction of the time
  // for which the program has run. A count is cheaper than a scan.
  double count_share = 0.01;
  /// Seconds from one scan to the next if the program has run for run_s seconds.
  constexpr double scan_interval_s(double run_s) const {
    return std::clamp(scan_share * run_s, min_scan_s, check_s);
  }
  // Seconds between two readings of the cgroup's quota while the number of threads that compute
  // stays the same. If this number changes, the interval is that between two scans for threads.
  double quota_s = 60;
  // Minimum seconds between wake-ups by threads that report waits. A wake-up costs about 20 us.
  double min_news_s = 1e-4;
  // A call of sched_yield begins a new wait if the thread has not called it for this many
  // nanoseconds.
  std::int64_t new_wait_ns = 1'000'000;
  // Milliseconds between the guard's checks of whether the balancer is stopped. If it is, the
  // program's threads are unpinned within twice this time.
  int stop_check_ms = 500;
  // Rounds between two checks of the affinities of pinned threads.
  std::uint64_t own_choice_rounds = 10;
  // Rounds between two probes of cpu speeds. Each probe wakes a thread.
  std::uint64_t probe_rounds = 20;
  // first_probe_rounds(): rounds between two probes while speeds are unknown. equal_probe_rounds():
  // rounds between two probes while all speeds are equal, as they are on most machines.
  constexpr std::uint64_t first_probe_rounds() const { return probe_rounds / 10; }
  constexpr std::uint64_t equal_probe_rounds() const { return probe_rounds * 10; }

  // --- Sizes ---
  //
  // Maximum number of processes whose threads are counted. If there are more processes, counting
  // costs as much as a scan, so the threads are not counted.
  std::size_t max_counted_processes = 4;
  // Maximum number of call sites, per OpenMP function, for which the preloaded library remembers
  // the OpenMP run-time that they call. Each call from any other call site costs a search (5 us).
  std::size_t kept_calls = 64;
  // Maximum number of recorded intervals (one thread on one cpu) in a trace: about 40 MB.
  std::size_t max_stays = 1'000'000;
  // How many of the last probes of a cpu are kept. The best of them gives the cpu's speed.
  std::size_t probes = 8;
  // Trials per probe of a cpu's speed. The best trial counts.
  int probe_trials = 3;
  // Steps of computation per trial. They take about 20 us; reading a clock takes a hundredth of
  // that time.
  std::uint32_t probe_steps = 10'000;

  // --- Measurement errors ---
  //
  // Probed speeds within this factor of each other count as equal. On a busy host, the probed
  // speeds of identical virtual cpus differed by up to 20 %.
  double equal_speeds = 0.75;
  // Cores whose maximum clock frequencies are within this factor of each other are of one kind.
  double one_kind = 0.9;
};

inline constexpr Tuning kTuning;

static_assert(kTuning.min_scan_s < kTuning.check_s);
static_assert(kTuning.count_share < kTuning.scan_share, "a count is cheaper than a scan");
static_assert(kTuning.probe_rounds % 10 == 0,
              "rounds with a probe must be among those in which a probe may begin");

}  // namespace poise::juggle
