// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/watcher.h"

#include <gtest/gtest.h>

#include "runtimes/juggle/simulated_kernel.h"
#include "runtimes/juggle/tuning.h"

namespace poise::juggle {
namespace {

/// A watcher, with the time of its last scan.
struct Watched {
  explicit Watched(double time_s) : watcher(kernel) {
    kernel.time_s = time_s;
    EXPECT_TRUE(watcher.is_time_to_scan());
    watcher.scan();
  }
  /// True if the watcher would scan at this time.
  bool scans_at(double time_s) {
    kernel.time_s = time_s;
    return watcher.is_time_to_scan();
  }
  SimulatedKernel kernel{{0, 1}};
  Watcher watcher;
};

TEST(Watcher, scans_for_threads_at_the_start) { EXPECT_EQ(Watched(0).kernel.scans, 1); }

TEST(Watcher, does_not_scan_for_threads_while_no_process_starts_on_the_host) {
  Watched watched(10);
  for (double time_s = 10; time_s < 100; time_s += 0.1) EXPECT_FALSE(watched.scans_at(time_s));
}

TEST(Watcher, scans_for_threads_if_a_process_has_started_and_the_check_interval_has_passed) {
  Watched watched(10);
  watched.kernel.born = 77;
  EXPECT_FALSE(watched.scans_at(10.9));
  EXPECT_TRUE(watched.scans_at(10 + kTuning.check_s));
}

TEST(Watcher, scans_often_at_the_start_of_a_run) {
  Watched watched(0.1);
  watched.kernel.born = 77;
  EXPECT_TRUE(watched.scans_at(0.1 + kTuning.min_scan_s));
}

TEST(Watcher, scans_for_threads_at_intervals_if_it_cannot_tell_whether_processes_started) {
  Watched watched(10);
  watched.kernel.born = std::nullopt;
  EXPECT_FALSE(watched.scans_at(10.2));
  EXPECT_TRUE(watched.scans_at(11));
}

TEST(Watcher, scans_immediately_after_a_process_has_ended) {
  Watched watched(10);
  watched.watcher.saw_death();
  EXPECT_TRUE(watched.scans_at(10));
  watched.watcher.scan();
  EXPECT_FALSE(watched.scans_at(10));
}

TEST(Watcher, scans_as_soon_as_the_number_of_threads_changes_if_the_program_has_few_processes) {
  Watched watched(10);
  watched.kernel.changed = true;
  EXPECT_TRUE(watched.scans_at(10.2));
}

TEST(Watcher, does_not_count_threads_again_before_the_count_interval_has_passed) {
  Watched watched(100);  // threads were scanned and counted at 100 s
  watched.kernel.born = 77;
  watched.kernel.changed = true;
  EXPECT_FALSE(watched.scans_at(100 + 0.45 * kTuning.check_s));
  EXPECT_TRUE(watched.scans_at(100 + 0.55 * kTuning.check_s));
}

TEST(Watcher,
     counts_threads_of_a_program_with_many_processes_only_after_a_thread_started_on_the_host) {
  Watched watched(10);
  watched.kernel.processes = kTuning.max_counted_processes + 1;
  watched.kernel.changed = true;
  EXPECT_FALSE(watched.scans_at(10.2));
  watched.kernel.born = 77;
  EXPECT_TRUE(watched.scans_at(10.2));
}

}  // namespace
}  // namespace poise::juggle
