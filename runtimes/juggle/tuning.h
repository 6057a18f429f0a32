// SPDX-License-Identifier: BSD-3-Clause
// All tuned numbers of the thread balancer, except those of its decisions, which are in
// poise/online/juggle_tuning.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::juggle {

struct Tuning {
  // The next numbers say how often /proc is scanned for threads, and how often the threads of known
  // processes are counted. A count is cheaper than a scan.
  //
  // Time from one scan to the next, as a fraction of the time for which the program has run.
  double scan_share = 0.1;
  double min_scan_s = 0.05;  // minimum seconds between two scans, each of which costs 20 to 100 us
  // Maximum number of seconds between two scans, so that new processes are found soon.
  double max_scan_s = 1;
  // Time from one count of threads to the next, as a fraction of the time for which the program has
  // run.
  double count_share = 0.01;
  double max_count_s = 0.5;  // maximum time in s between two counts
  // Maximum number of processes whose threads are counted. With more processes, a count would cost
  // as much as a scan.
  std::size_t max_counted_processes = 4;

  // The next numbers say how often the balancer checks whether the program has changed affinities.
  //
  // For this many seconds from the start, threads that are not pinned are checked in every round,
  // because most programs bind their threads early.
  double start_s = 1;
  // Seconds between two later checks of threads that are not pinned.
  double own_affinity_s = 1;
  std::uint64_t own_choice_rounds = 10;  // rounds between two checks of threads that are pinned
  std::size_t max_stays = 1'000'000;     // maximum number of stays in a trace: about 40 MB

  // Rounds between two probes of cpu speeds; each probe wakes a thread.
  std::uint64_t first_probe_rounds = 2;    // rounds between two probes while speeds are unknown
  std::uint64_t probe_rounds = 20;         // the same once speeds are known
  std::uint64_t equal_probe_rounds = 200;  // the same if all speeds are equal, as is common
  // A cpu that is busy for less than this share of the time has a low clock and is not probed.
  double busy_cpu = 0.5;

  // The next numbers concern threads that report their waits (wait_table.h).
  double min_news_s = 1e-4;  // seconds between two wake-ups, each of which costs about 20 us
  double silence_s = 1;  // after this time the user is told about processes that report no waits

  // Other intervals.
  double quota_s = 60;  // seconds between two readings of the cgroup's quota
  double reap_s = 1;    // seconds between two checks for ended children and a dead guard
};

inline constexpr Tuning kTuning;

static_assert(kTuning.min_scan_s < kTuning.max_scan_s);
static_assert(kTuning.count_share < kTuning.scan_share, "a count is cheaper than a scan");
static_assert(kTuning.first_probe_rounds < kTuning.probe_rounds);
static_assert(kTuning.probe_rounds % kTuning.first_probe_rounds == 0,
              "rounds with a probe must be among those in which a probe may begin");
static_assert(kTuning.equal_probe_rounds % kTuning.probe_rounds == 0);

}  // namespace poise::juggle
