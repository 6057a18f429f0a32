// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/recorder.h"

#include <gtest/gtest.h>

namespace poise::profile {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(recorder, useful_time_and_mpi_time_add_up_to_the_elapsed_time) {
  Recorder recorder;
  recorder.start(0, 0, {});
  recorder.enter(10);
  recorder.leave(10, 15, Kind::collective);
  recorder.enter(17);
  recorder.leave(17, 30, Kind::wait);
  EXPECT_EQ(recorder.sums().totals.useful_ns, 12);
  EXPECT_EQ(recorder.sums().totals.mpi_ns[static_cast<int>(Kind::collective)], 5);
  EXPECT_EQ(recorder.sums().totals.mpi_ns[static_cast<int>(Kind::wait)], 13);
  EXPECT_EQ(recorder.sums().totals.calls[static_cast<int>(Kind::wait)], 1u);
}

TEST(recorder, the_time_after_a_call_that_the_program_left_by_longjmp_counts_as_useful) {
  Recorder recorder;
  recorder.start(0, 0, {});
  recorder.enter(10);
  recorder.forget_call();
  recorder.enter(17);
  recorder.leave(17, 30, Kind::wait);
  EXPECT_EQ(recorder.sums().totals.useful_ns, 17);
  EXPECT_EQ(recorder.sums().totals.mpi_ns[static_cast<int>(Kind::wait)], 13);
}

/// A rank that ran on a cpu for 3 of 10 ms.
TEST(recorder, distinguishes_a_preempted_rank_from_one_that_computes) {
  Recorder recorder;
  recorder.start(0, 0, {});
  ASSERT_TRUE(recorder.enter(10 * kMs));
  recorder.read_cpu_at_entry(10 * kMs, 3 * kMs, 0);
  ASSERT_TRUE(recorder.leave(10 * kMs, 20 * kMs, Kind::wait));
  recorder.read_cpu_at_exit(20 * kMs, 3 * kMs, 0);
  const Phase phase =
      recorder.cut(Cuts::pcontrol, 20 * kMs, {.run_ns = 3 * kMs, .queued_ns = 7 * kMs});
  EXPECT_EQ(phase.totals.useful_ns, 10 * kMs);
  EXPECT_EQ(phase.useful_cpu_ns, 3 * kMs);
}

TEST(recorder,
     distinguishes_waiting_for_a_cpu_outside_mpi_from_waiting_for_a_cpu_in_mpi_and_from_sleep) {
  Recorder recorder;
  recorder.start(0, 0, {.queued_ns = 5 * kMs});
  ASSERT_TRUE(recorder.enter(10 * kMs));  // the rank has slept
  ASSERT_TRUE(recorder.was_off_cpu(10 * kMs, 0));
  recorder.read_cpu_at_entry(10 * kMs, 0, 5 * kMs);
  ASSERT_TRUE(recorder.leave(10 * kMs, 30 * kMs, Kind::wait));
  ASSERT_TRUE(recorder.was_off_cpu(30 * kMs, 8 * kMs));
  recorder.read_cpu_at_exit(30 * kMs, 8 * kMs, 17 * kMs);  // queued for 12 ms inside MPI
  ASSERT_TRUE(recorder.enter(50 * kMs));                   // computed 10, queued 7, slept 3 ms
  recorder.read_cpu_at_entry(50 * kMs, 18 * kMs, 24 * kMs);
  EXPECT_EQ(recorder.sums().totals.useful_ns, 30 * kMs);
  EXPECT_NEAR(static_cast<double>(recorder.sums().totals.useful_queued_ns), 7 * kMs, 2);
  ASSERT_TRUE(recorder.leave(50 * kMs, 60 * kMs, Kind::wait));
  EXPECT_FALSE(recorder.was_off_cpu(60 * kMs, 28 * kMs));
  EXPECT_EQ(recorder.queued_ns(), 24 * kMs);
}

/// A thread that is preempted for 7 ms in every 200th of its computations of 20 us. In MPI it
/// spins.
TEST(recorder, the_cpu_time_of_long_computations_is_read_and_that_of_short_ones_is_estimated) {
  Recorder recorder;
  recorder.start(0, 0, {});
  std::int64_t now_ns = 0, cpu_ns = 0, computed_ns = 0;
  for (int i = 1; i <= 1000; ++i) {
    const bool is_preempted = i % 200 == 0;
    now_ns += is_preempted ? 7'020'000 : 20'000;
    cpu_ns += 20'000;
    computed_ns += 20'000;
    EXPECT_EQ(recorder.enter(now_ns), is_preempted);
    if (is_preempted) recorder.read_cpu_at_entry(now_ns, cpu_ns, 0);
    now_ns += 10'000;
    cpu_ns += 10'000;
    if (recorder.leave(now_ns - 10'000, now_ns, Kind::wait))
      recorder.read_cpu_at_exit(now_ns, cpu_ns, 0);
  }
  const Phase phase = recorder.cut(Cuts::pcontrol, now_ns, {.queued_ns = now_ns - cpu_ns});
  EXPECT_EQ(phase.totals.useful_ns, computed_ns + 5 * 7 * kMs);
  EXPECT_NEAR(static_cast<double>(phase.useful_cpu_ns), computed_ns, 0.02 * computed_ns);
}

/// A rank that computes for 1 ms and then polls ten times. Between two polls it uses 1 us of CPU
/// time, while `pause_ns` of wall time pass.
Totals polled(std::int64_t pause_ns) {
  Recorder recorder;
  recorder.start(0, 0, {});
  std::int64_t now_ns = kMs, cpu_ns = kMs;
  for (int i = 0; i < 10; ++i) {
    if (recorder.enter(now_ns, true)) recorder.read_cpu_at_entry(now_ns, cpu_ns, 0);
    if (recorder.leave(now_ns, now_ns + 100, Kind::wait))
      recorder.read_cpu_at_exit(now_ns + 100, cpu_ns + 100, 0);
    if (i < 9) recorder.poll_was_empty();
    now_ns += 100 + pause_ns;
    cpu_ns += 1100;
  }
  recorder.enter(now_ns, true);
  return recorder.sums().totals;
}

TEST(recorder, time_between_polls_that_find_nothing_counts_as_mpi_time) {
  // The rank spins in a pause of 1 us, and yields its core in a pause of 4 ms.
  for (const std::int64_t pause_ns : {std::int64_t{1000}, 4 * kMs}) {
    const Totals totals = polled(pause_ns);
    EXPECT_EQ(totals.useful_ns, kMs + pause_ns);  // the time after the last poll is work
    EXPECT_EQ(totals.mpi_ns[static_cast<int>(Kind::wait)], 10 * 100 + 9 * pause_ns);
    EXPECT_LE(useful_cpu_ns(totals), kMs + pause_ns);
  }
}

TEST(recorder, computations_between_polls_count_as_useful_time) {
  Recorder recorder;
  recorder.start(0, 0, {});
  for (int i = 0; i < 10; ++i) {
    recorder.enter(20'000 * (i + 1), true);
    recorder.leave(20'000 * (i + 1), 20'000 * (i + 1), Kind::wait);
    recorder.poll_was_empty();
    EXPECT_EQ(recorder.wait_begun_ns(), 20'000 * (i + 1));
  }
  EXPECT_EQ(recorder.sums().totals.useful_ns, 200'000);
}

/// A rank that computes for 1 ms and then polls for 2 ms, every microsecond.
struct Polling {
  Recorder recorder;
  std::int64_t now_ns = kMs, cpu_ns = kMs;
  Polling() {
    recorder.start(0, 0, {}, 5 * kMs);
    for (int i = 0; i < 2000; ++i) poll(500);
  }
  void poll(std::int64_t gap_ns, std::int64_t gap_cpu_ns = 0) {
    now_ns += gap_ns;
    cpu_ns += std::max(gap_cpu_ns, gap_ns < 1000 ? gap_ns : 0);
    if (recorder.slice_is_over(now_ns, true)) recorder.cut_slices(now_ns, cpu_ns, {}, true);
    if (recorder.enter(now_ns, true)) recorder.read_cpu_at_entry(now_ns, cpu_ns, 0);
    now_ns += 500;
    cpu_ns += 500;
    if (recorder.leave(now_ns - 500, now_ns, Kind::wait))
      recorder.read_cpu_at_exit(now_ns, cpu_ns, 0);
    recorder.poll_was_empty();
  }
};

constexpr std::int64_t kFirstPoll_ns = kMs + 500;

TEST(recorder,
     a_rank_counts_as_waiting_from_the_first_poll_of_a_loop_even_if_interrupts_delay_polls) {
  Polling polling;
  polling.poll(15'000);
  polling.poll(4 * kMs);  // the rank has no core
  EXPECT_EQ(polling.recorder.wait_begun_ns(), kFirstPoll_ns);
  EXPECT_EQ(polling.recorder.sums().totals.useful_ns, kFirstPoll_ns);
  polling.poll(4 * kMs, 3 * kMs);
  EXPECT_EQ(polling.recorder.wait_begun_ns(), polling.now_ns - 500);
  EXPECT_EQ(polling.recorder.sums().totals.useful_ns, kFirstPoll_ns + 4 * kMs);
}

TEST(recorder,
     polling_counts_as_waiting_until_cpu_time_between_polls_exceeds_1_percent_of_the_loop_time) {
  Polling polling;
  for (int i = 0; i < 13'000; ++i) polling.poll(500);  // until now, the loop has lasted 15 ms
  polling.poll(4 * kMs, 60'000);
  polling.poll(kMs / 2, 60'000);
  EXPECT_EQ(polling.recorder.wait_begun_ns(), kFirstPoll_ns);
  polling.poll(kMs / 2, 90'000);  // pauses used 210 us in all: over 1 % of the loop's 19.5 ms
  EXPECT_EQ(polling.recorder.wait_begun_ns(), polling.now_ns - 500);
}

TEST(recorder, a_time_slice_does_not_end_in_a_loop_of_polls) {
  Polling polling;
  for (int i = 0; i < 5000; ++i) polling.poll(500);
  polling.poll(4 * kMs);
  EXPECT_EQ(polling.recorder.series(Cuts::slices).phases().size(), 0u);
  EXPECT_EQ(polling.recorder.wait_begun_ns(), kFirstPoll_ns);
  ASSERT_TRUE(polling.recorder.slice_is_over(polling.now_ns));
  EXPECT_EQ(polling.recorder.cut_slices(polling.now_ns, polling.cpu_ns, {}).size(), 2u);
}

TEST(recorder, a_computation_longer_than_a_time_slice_is_divided_among_all_slices_that_it_spans) {
  Recorder recorder;
  recorder.start(0, 0, {});
  // The rank has a cpu for a quarter of the time.
  const std::int64_t now_ns = 2 * tuning::kSlice_ns + kMs;
  const std::vector<Phase> ended =
      recorder.cut_slices(now_ns, now_ns / 4, {.queued_ns = 3 * now_ns / 4});
  ASSERT_TRUE(recorder.enter(now_ns));
  recorder.read_cpu_at_entry(now_ns, now_ns / 4, 3 * now_ns / 4);
  ASSERT_EQ(ended.size(), 2u);
  for (const Phase& phase : ended) {
    EXPECT_EQ(phase.totals.useful_ns, tuning::kSlice_ns);
    EXPECT_NEAR(static_cast<double>(phase.useful_cpu_ns), tuning::kSlice_ns / 4, 2);
    EXPECT_NEAR(static_cast<double>(phase.queued_ns), 3 * tuning::kSlice_ns / 4, 2);
    EXPECT_NEAR(static_cast<double>(phase.totals.useful_queued_ns), 3 * tuning::kSlice_ns / 4, 2);
  }
  EXPECT_EQ(recorder.sums().totals.useful_ns, now_ns);
  EXPECT_NEAR(static_cast<double>(recorder.sums().totals.useful_queued_ns), 3 * now_ns / 4, 4);
  EXPECT_EQ(recorder.sums().totals.long_wall_ns, now_ns);
  EXPECT_NEAR(static_cast<double>(recorder.sums().totals.long_cpu_ns), now_ns / 4, 2);
}

TEST(recorder, ends_a_phase_after_each_iteration_found_in_the_sequence_of_collectives) {
  Recorder recorder;
  recorder.start(0, 0, {});
  int ends = 0;
  for (int i = 0; i < 30; ++i)
    ends += recorder.collective(static_cast<std::uint64_t>(i % 3), true) ? 1 : 0;
  EXPECT_EQ(ends, 1 + 6);  // an iteration ends at the tenth collective, then at every third
}

}  // namespace
}  // namespace poise::profile
