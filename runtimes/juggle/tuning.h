// Every number of the thread balancer that was chosen rather than given. Those of its decisions are
// in poise/online/juggle_tuning.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::juggle {

struct Tuning {
  // Scans of /proc for threads, and counts of the threads of known processes.
  double scan_share = 0.1;    // of the run so far between two walks: a late find costs that
  double min_scan_s = 0.05;   // at least between two scans; one costs 20 to 100 us
  double max_scan_s = 1;      // at most, so that new processes are soon found
  double count_share = 0.01;  // of the run so far between two counts, which are cheaper
  double max_count_s = 0.5;   // at most between two counts
  std::size_t max_counted_processes = 4;  // with more processes a count costs as much as a scan

  // Affinities that the program sets.
  double start_s = 1;                    // programs bind their threads in their first moments
  double own_affinity_s = 1;             // between two looks at threads that are not kept
  std::uint64_t own_choice_rounds = 10;  // between two looks at threads that are kept
  std::size_t max_stays = 1'000'000;     // in a trace: about 40 MB

  // Probes to cpus whose speeds are learned; each wakes a thread.
  std::uint64_t first_probe_rounds = 2;    // while speeds are unknown
  std::uint64_t probe_rounds = 20;         // once they are known
  std::uint64_t equal_probe_rounds = 200;  // where all are equal, as they mostly are
  double busy_cpu = 0.5;                   // share of the time; an idle cpu has a low clock

  // The rest.
  double quota_s = 60;  // between two looks at the cgroup's quota
  double reap_s = 1;    // between two looks for dead children and a dead guard
};

inline constexpr Tuning kTuning;

static_assert(kTuning.min_scan_s < kTuning.max_scan_s);
static_assert(kTuning.count_share < kTuning.scan_share, "a count is cheaper than a scan");
static_assert(kTuning.first_probe_rounds < kTuning.probe_rounds);
static_assert(kTuning.probe_rounds % kTuning.first_probe_rounds == 0,
              "rounds with a probe are among those in which one may begin");
static_assert(kTuning.equal_probe_rounds % kTuning.probe_rounds == 0);

}  // namespace poise::juggle
