// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_watch.h"

#include <gmock/gmock.h>
#include <numeric>

namespace poise {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

constexpr JuggleAction kLeave = JuggleAction::leave, kRotate = JuggleAction::rotate;
const JuggleTuning kTuning;

/// Threads and places whose state the test sets. The first `size` threads are in the team.
struct Crew {
  Crew(std::size_t size, std::size_t others, std::size_t num_places)
      : members(size + others), team(size), places(num_places) {
    std::iota(team.begin(), team.end(), 0);
    for (const std::size_t i : team) members[i].takes_part = true;
    for (std::size_t i = 0; i < members.size(); ++i) members[i].last.key = i + 1;
  }
  JuggleCrew view() { return {members, team, places}; }
  /// Adds to the readings of thread i: run time, waiting time, and how often it was put on a cpu.
  void use(std::size_t i, double run_s, double wait_s, std::uint64_t turns = 0) {
    members[i].last.run_s += run_s;
    members[i].last.wait_s += wait_s;
    members[i].last.turns += turns;
  }
  void set_windows(std::uint32_t windows) {
    for (JuggleMember& member : members) member.windows = windows;
  }

  std::vector<JuggleMember> members;
  std::vector<std::size_t> team;
  std::vector<JugglePlace> places;
};

/// Closes windows of a second each, in which no thread does anything. After that, no thread counts
/// as new.
double idle(JuggleWatch& watch, Crew& crew, int windows, double now_s = 0) {
  for (int i = 0; i < windows; ++i) watch.close_window(crew.view(), kLeave, 0, ++now_s);
  crew.set_windows(kTuning.enough_windows);
  return now_s;
}

TEST(JuggleWatch, discards_observations_when_the_number_of_threads_that_are_not_balanced_doubles) {
  JuggleWatch watch(kTuning, 2);
  watch.begin(1);
  struct Round {
    std::size_t size;
    JuggleAction action;
    double now_s, since_s;
  };
  for (const auto& [size, action, now_s, since_s] : {Round{1, kLeave, 2, 1},
                                                     {2, kLeave, 3, 3},
                                                     {3, kLeave, 4, 3},
                                                     {4, kLeave, 5, 5},
                                                     {7, kLeave, 6, 5},
                                                     {1, kLeave, 7, 5},
                                                     {2, kLeave, 8, 8},
                                                     {8, kRotate, 9, 8},
                                                     {15, kLeave, 10, 8},
                                                     {16, kLeave, 11, 11}}) {
    Crew crew(size, 1, 2);
    crew.set_windows(7);
    watch.observe(crew.view(), action, 1, now_s);
    EXPECT_EQ(watch.since_s(), since_s) << size;
    EXPECT_EQ(crew.members[0].windows, since_s == now_s ? 0u : 7u) << size;
    EXPECT_EQ(crew.members[size].windows, since_s == now_s ? 0u : 7u) << size;
  }
}

TEST(JuggleWatch, the_cpu_time_wanted_on_a_place_is_the_longest_ready_time_of_its_threads) {
  JuggleWatch watch(kTuning, 4);
  Crew crew(5, 0, 4);
  const std::optional<PlaceId> places[] = {0, 0, 1, {}, 2};
  const double gained_s[] = {0.6, 0.2, 1.0, 0.8, 0.4}, waited_s[] = {0.2, 0.8, 3.0, 0.8, 0.4};
  for (std::size_t i = 0; i < 5; ++i) {
    crew.members[i].place = places[i];
    crew.members[i].gained_s = gained_s[i];
    crew.members[i].waited_s = waited_s[i];
  }
  crew.members[3].last.own_place = 3;
  crew.members[4].is_wide = true;  // may run on several places
  watch.observe(crew.view(), kLeave, 2, 0);
  const auto wanted = [&] {
    return std::vector{watch.wanted(0), watch.wanted(1), watch.wanted(2), watch.wanted(3)};
  };
  EXPECT_THAT(wanted(), Pointwise(DoubleEq(), {0.125 * 0.5, 0.125 * 1.0, 0.0, 0.125 * 0.8}));
  watch.observe(crew.view(), kLeave, 4, 2);
  EXPECT_THAT(wanted(), Pointwise(DoubleEq(), {0.125 * (0.875 * 0.5 + 0.25), 0.125 * 1.875, 0.0,
                                               0.125 * (0.875 * 0.8 + 0.4)}));
  watch.set_places(3);
  EXPECT_EQ(watch.wanted(0) + watch.wanted(1), 0);
}

// Per window: its length, the seconds for which the thread runs and waits, and how many times the
// thread gets a cpu.
TEST(JuggleWatch,
     averages_over_windows_how_much_a_thread_sleeps_and_waits_and_how_often_it_gets_a_cpu) {
  JuggleWatch watch(kTuning, 1);
  Crew crew(1, 1, 1);
  const JuggleMember& member = crew.members[0];
  watch.begin(0);
  double now_s = 0;
  const auto close = [&](double window_s, double run_s, double wait_s, std::uint64_t turns) {
    crew.use(0, run_s, wait_s, turns);
    watch.close_window(crew.view(), kLeave, 0, now_s += window_s);
  };
  const double missed1 = 1 - 2 * (0.05 + 0.008), missed2 = 1 - 2 * (0.05 + 0.004);
  close(1, 0.5, 0.2, 9);
  EXPECT_EQ(member.windows, 1u);
  EXPECT_EQ(member.asleep, 0);
  EXPECT_NEAR(member.seems_asleep, 0.3, 1e-12);
  EXPECT_NEAR(member.waiting, 0.2, 1e-12);
  EXPECT_NEAR(member.broken_per_s, 1 / missed1, 1e-12);
  EXPECT_NEAR(member.turns_per_s, 9, 1e-12);
  close(2, 0.9, 0.3, 4);
  EXPECT_NEAR(member.asleep, 0.3, 1e-12) << "it slept in the first window";
  EXPECT_NEAR(member.seems_asleep, 0.4, 1e-12);
  EXPECT_NEAR(member.waiting, (0.2 + 0.15) / 2, 1e-12);
  EXPECT_NEAR(member.broken_per_s, (1 / missed1 + 0.5 / missed2) / 2, 1e-12);
  EXPECT_NEAR(member.turns_per_s, (9 + 2) / 2.0, 1e-12);
  close(1, 0.5, 0.7, 1);  // 0.2 s of the wait belong to the previous window
  EXPECT_NEAR(member.asleep, (0.3 + 0.2) / 2, 1e-12);
  EXPECT_EQ(member.seems_asleep, 0);
  EXPECT_NEAR(member.waiting, (0.2 + 0.15 + 0.7) / 3, 1e-12);
  EXPECT_NEAR(member.broken_per_s, (1 / missed1 + 0.5 / missed2) / 3, 1e-12);
  EXPECT_NEAR(member.turns_per_s, (9 + 2 + 1) / 3.0, 1e-12);
  close(1, 0.04, 0, 0);
  EXPECT_NEAR(member.asleep, (0.3 + 0.2 + 0) / 3, 1e-12);
  EXPECT_NEAR(member.broken_per_s, (1 / missed1 + 0.5 / missed2) / 4, 1e-12)
      << "it hardly ran, so the window is not broken";
  EXPECT_EQ(member.windows, 4u);
  EXPECT_EQ(crew.members[1].windows, 4u);
  crew.set_windows(0);  // the next window counts as the first one
  close(1, 0.5, 0.2, 9);
  EXPECT_EQ(member.asleep, 0);
  EXPECT_NEAR(member.waiting, 0.2, 1e-12);
  EXPECT_NEAR(member.turns_per_s, 9, 1e-12);
}

TEST(JuggleWatch, the_newest_window_has_a_weight_of_at_least_one_eighth) {
  JuggleWatch watch(kTuning, 1);
  Crew crew(1, 0, 1);
  JuggleMember& member = crew.members[0];
  watch.begin(0);
  crew.set_windows(20);
  member.asleep = 0.4;
  member.seems_asleep = 0.8;
  member.waiting = 0.24;
  member.turns_per_s = 16;
  member.broken_per_s = 3;
  crew.use(0, 0.2, 0.4, 12);
  watch.close_window(crew.view(), kLeave, 0, 0.5);
  EXPECT_NEAR(member.asleep, 0.4 + (0.6 - 0.4) / 8, 1e-12) << "0.1 s more ready than possible";
  EXPECT_NEAR(member.waiting, 0.24 + (0.8 - 0.24) / 8, 1e-12);
  EXPECT_NEAR(member.turns_per_s, 16 + (24 - 16) / 8.0, 1e-12);
  EXPECT_NEAR(member.broken_per_s, 3 - 3 / 8.0, 1e-12);
}

TEST(JuggleWatch, sleep_in_a_small_part_of_a_window_does_not_count) {
  for (const auto& [run_s, is_broken, is_asleep] : {std::tuple{0.95, false, false},
                                                    {0.93, true, true},
                                                    {0.07, true, true},
                                                    {0.05, false, true}}) {
    JuggleWatch watch(kTuning, 1);
    Crew crew(1, 0, 1);
    watch.begin(0);
    for (int i = 1; i <= 2; ++i) {
      crew.use(0, run_s, 0);
      watch.close_window(crew.view(), kLeave, 0, i);
    }
    EXPECT_EQ(crew.members[0].broken_per_s > 0, is_broken) << run_s;
    EXPECT_NEAR(crew.members[0].asleep, is_asleep ? 1 - run_s : 0, 1e-12) << run_s;
  }
}

TEST(JuggleWatch, observations_of_a_new_thread_begin_with_its_creation) {
  JuggleWatch watch(kTuning, 1);
  Crew crew(2, 0, 1);
  watch.begin(0);
  crew.members[0].seen_s = 3;
  crew.members[1].seen_s = 4;
  crew.use(0, 0.25, 0.5, 6);
  watch.close_window(crew.view(), kLeave, 0, 4);
  EXPECT_NEAR(crew.members[0].waiting, 0.5, 1e-12);
  EXPECT_NEAR(crew.members[0].turns_per_s, 6, 1e-12);
  EXPECT_NEAR(crew.members[0].seems_asleep, 0.25, 1e-12);
  EXPECT_EQ(crew.members[1].windows, 0u);
}

TEST(JuggleWatch, a_window_lasts_for_at_least_three_quarters_of_a_round_and_at_least_50_ms) {
  for (const auto& [round_s, window_s] : {std::pair{0.01, 0.05}, {0.2, 0.15}, {4.0, 3.0}}) {
    JuggleWatch watch(kTuning, 1);
    Crew crew(1, 0, 1);
    watch.begin(2);
    watch.close_window(crew.view(), kLeave, round_s, 2 + window_s - 1e-6);
    EXPECT_EQ(crew.members[0].windows, 0u) << round_s;
    watch.close_window(crew.view(), kLeave, round_s, 2 + window_s + 1e-6);
    EXPECT_EQ(crew.members[0].windows, 1u) << round_s;
    watch.close_window(crew.view(), kLeave, round_s, 2 + 2 * window_s);
    EXPECT_EQ(crew.members[0].windows, 1u) << round_s;
    watch.close_window(crew.view(), kLeave, round_s, 2 + 2 * window_s + 1e-5);
    EXPECT_EQ(crew.members[0].windows, 2u) << round_s;
  }
}

// Three threads are in the team, and a fourth is not.
TEST(JuggleWatch,
     sums_up_what_slows_the_threads_down_once_each_thread_was_observed_for_long_enough) {
  for (const bool fits : {false, true}) {
    SCOPED_TRACE(fits);
    JuggleWatch watch(kTuning, fits ? 3 : 2);
    Crew crew(3, 1, fits ? 3 : 2);
    watch.begin(0);
    crew.set_windows(kTuning.enough_windows);
    crew.use(0, 1.2, 0.8, 34);
    crew.use(1, 1.0, 1.5, 8);  // ready for longer than the window: the wait began before it
    crew.use(2, 0.4, 1.6, 10);
    crew.use(3, 0.2, 1.7, 99);
    crew.members[0].asleep = 0.2;
    crew.members[0].seems_asleep = 0.8;
    crew.members[1].asleep = 0.1;
    crew.members[0].turns_per_s = 10;
    crew.members[1].turns_per_s = 4;
    watch.close_window(crew.view(), fits ? kRotate : kLeave, 0, 2);
    const double lost = fits ? 0.8 - 0.1 : 0.4 + 0.5 + 0.8 - 1 - 0.1;
    EXPECT_EQ(watch.facts().watched_s, 2);
    EXPECT_NEAR(watch.facts().lost_cpu_s, 2 * lost, 1e-12);
    const double taken = fits ? 0.4 + 0.5 + 0.8 - 0.1 : lost;
    EXPECT_NEAR(watch.facts().taken_cpu_s, 2 * taken, 1e-12);
    EXPECT_NEAR(watch.facts().asleep_s, 2 * (0.2 + (0.8 - 0.2) / 6), 1e-12);
    EXPECT_NEAR(watch.facts().turns, 2 * (10 + (17 - 10) / 7.0), 1e-12);
    EXPECT_EQ(watch.facts().acted_s, fits ? 2 : 0);
    EXPECT_EQ(watch.facts().threads, 3u);
    crew.use(2, 0.4, 0.6);
    crew.use(0, 0.2, 0.1);
    crew.use(1, 0.2, 0.2);
    watch.close_window(crew.view(), kRotate, 0, 3);
    EXPECT_EQ(watch.facts().watched_s, 3);
    EXPECT_NEAR(watch.facts().lost_cpu_s, 2 * lost + (fits ? 0.6 : 0), 1e-12);
    EXPECT_NEAR(watch.facts().taken_cpu_s, 2 * taken + (fits ? 0.9 : 0), 1e-12);
    EXPECT_EQ(watch.facts().acted_s, fits ? 3 : 1);
  }
}

TEST(JuggleWatch, the_sums_leave_out_windows_in_which_a_thread_was_not_observed_for_long_enough) {
  for (const std::uint32_t windows : {kTuning.enough_windows - 2, kTuning.enough_windows - 1}) {
    JuggleWatch watch(kTuning, 2);
    Crew crew(2, 0, 2);
    watch.begin(0);
    crew.set_windows(kTuning.enough_windows);
    crew.members[1].windows = windows;
    watch.add_birth();
    watch.close_window(crew.view(), kRotate, 0, 2);
    const bool is_known = windows == kTuning.enough_windows - 1;
    EXPECT_EQ(watch.facts().watched_s, is_known ? 2 : 0);
    EXPECT_EQ(watch.facts().births, is_known ? 1 : 0);
    EXPECT_EQ(watch.facts().threads, is_known ? 2u : 0u);
    crew.team.clear();
    watch.close_window(crew.view(), kRotate, 0, 3);
    EXPECT_EQ(watch.facts().watched_s, is_known ? 2 : 0);
  }
}

// The time that other programs take on a place: the longest time for which a thread of the place
// was ready, minus the run times of all of the program's threads on this place.
TEST(JuggleWatch, measures_the_cpu_time_that_other_programs_take_from_each_place) {
  JuggleWatch watch(kTuning, 3);
  Crew crew(3, 1, 3);
  watch.begin(0);
  const PlaceId places[] = {0, 1, 1, 0};
  const double gained_s[] = {0.3, 0.4, 0.5, 0.1}, waited_s[] = {0.6, 0.3, 0, 0.7};
  for (std::size_t i = 0; i < 4; ++i) {
    crew.members[i].place = places[i];
    crew.members[i].gained_s = gained_s[i];
    crew.members[i].waited_s = waited_s[i];
  }
  crew.members[1].last.own_place = 2;
  crew.members[2].last.own_place = 1;
  watch.observe(crew.view(), kLeave, 1, 1);
  crew.members[1].waited_s = 0.8;
  watch.observe(crew.view(), kLeave, 2, 2);
  crew.set_windows(kTuning.enough_windows);
  watch.close_window(crew.view(), kLeave, 0, 3);
  EXPECT_THAT(watch.facts().taken_s,
              Pointwise(testing::DoubleNear(1e-12), {2 * (0.9 - 0.3 - 0.1), 1.2 - 0.9, 0.0}));
  EXPECT_THAT(watch.facts().bound_on, ElementsAre(0, 1, 1));
  watch.close_window(crew.view(), kLeave, 0, 4);
  EXPECT_NEAR(watch.facts().taken_s[0], 1, 1e-12) << "counts each window once";
  crew.team.pop_back();
  watch.close_window(crew.view(), kLeave, 0, 5);
  EXPECT_THAT(watch.facts().bound_on, ElementsAre(0, 1, 1)) << "when most threads computed";
  watch.set_places(3);
  EXPECT_THAT(watch.facts().taken_s, ElementsAre(0, 0, 0));
  EXPECT_THAT(watch.facts().bound_on, IsEmpty());
  watch.close_window(crew.view(), kLeave, 0, 6);
  EXPECT_THAT(watch.facts().bound_on, ElementsAre(0, 0, 1));
  EXPECT_EQ(watch.facts().threads, 3u);
}

TEST(JuggleWatch,
     the_signs_give_the_rate_of_thread_creation_but_ignore_threads_created_at_the_start) {
  JuggleWatch watch(kTuning, 2);
  Crew crew(2, 0, 2);
  watch.begin(0);
  for (int i = 0; i < 9; ++i) watch.add_birth();
  watch.close_window(crew.view(), kLeave, 0, 1);
  EXPECT_EQ(watch.signs(crew.view(), kLeave, 1).births_per_s, 0);
  for (int i = 0; i < 6; ++i) watch.add_birth();
  watch.close_window(crew.view(), kLeave, 0, 3);
  EXPECT_NEAR(watch.signs(crew.view(), kLeave, 3).births_per_s, 3 / 8.0, 1e-12);
  watch.close_window(crew.view(), kLeave, 0, 4);
  EXPECT_NEAR(watch.signs(crew.view(), kLeave, 4).births_per_s, 7 / 8.0 * 3 / 8, 1e-12);
}

TEST(JuggleWatch, the_first_observed_phase_length_is_used_even_while_threads_rotate) {
  JuggleWatch watch(kTuning, 2);
  Crew crew(2, 0, 2);
  const double now_s = idle(watch, crew, 1);
  const auto phase_s = [&](JuggleAction action, double broken_per_s) {
    for (JuggleMember& member : crew.members) member.broken_per_s = broken_per_s;
    return watch.signs(crew.view(), action, now_s).phase_s;
  };
  EXPECT_EQ(phase_s(kRotate, 2), phase_length_s(2));
  // First the phase length is known. Then it is unknown, because the threads are new. Finally it is
  // known again.
  EXPECT_EQ(phase_s(kRotate, 50), phase_length_s(50));
  crew.set_windows(0);
  EXPECT_EQ(phase_s(kLeave, 2), std::nullopt);
  crew.set_windows(kTuning.enough_windows);
  EXPECT_EQ(phase_s(kRotate, 2), phase_length_s(2));
}

TEST(JuggleWatch, signs_contain_the_largest_sleep_and_the_longest_mean_wait_of_any_thread) {
  JuggleWatch watch(kTuning, 2);
  Crew crew(3, 1, 2);
  const double asleep[] = {0.1, 0.3, 0.2, 0.9}, waiting[] = {0.4, 0.3, 0.9, 0.9};
  const double turns_per_s[] = {5, 2, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    crew.members[i].asleep = asleep[i];
    crew.members[i].waiting = waiting[i];
    crew.members[i].turns_per_s = turns_per_s[i];
  }
  crew.members[3].last.is_bound = crew.members[3].last.is_beyond = true;
  JuggleSigns signs = watch.signs(crew.view(), kRotate, 0);
  EXPECT_EQ(signs.asleep, 0.3);
  EXPECT_EQ(signs.longest_wait_s, 0.15);
  EXPECT_FALSE(signs.is_bound);
  EXPECT_FALSE(signs.is_confined);
  EXPECT_FALSE(signs.fits);
  EXPECT_DOUBLE_EQ(signs.even_gain, 2 / 1.5);
  crew.places[1].domain = 1;  // one domain has two threads, the other has one
  EXPECT_DOUBLE_EQ(watch.signs(crew.view(), kRotate, 0).even_gain, 1);
  crew.members[0].last.is_bound = crew.members[1].last.is_beyond = true;
  signs = watch.signs(crew.view(), kRotate, 0);
  EXPECT_TRUE(signs.is_bound);
  EXPECT_TRUE(signs.is_confined);
  crew.places.resize(4);
  signs = watch.signs(crew.view(), kRotate, 0);
  EXPECT_TRUE(signs.fits);
  EXPECT_FALSE(signs.is_confined);
  EXPECT_EQ(signs.even_gain, 1);
  crew.team.clear();
  EXPECT_EQ(watch.signs(crew.view(), kRotate, 0).even_gain, 1);
}

TEST(JuggleWatch, threads_that_are_not_bound_count_as_asleep_for_the_first_600_ms) {
  for (const bool is_bound : {false, true})
    for (const JuggleAction action : {kLeave, kRotate}) {
      JuggleWatch watch(kTuning, 2);
      Crew crew(2, 0, 2);
      crew.members[1].last.is_bound = is_bound;
      crew.members[1].asleep = 0.25;
      watch.begin(3);
      const double early = !is_bound && action == kLeave ? 1 : 0.25;
      EXPECT_EQ(watch.signs(crew.view(), action, 3.59).asleep, early);
      EXPECT_EQ(watch.signs(crew.view(), action, 3.61).asleep, 0.25);
    }
}

// All threads wait for 0.3 s of each second, though there is a cpu for each.
TEST(JuggleWatch, finds_after_three_windows_that_another_program_runs_beside_waiting_threads) {
  struct Change {
    std::size_t size, num_places;
    bool is_bound;
    double asleep;
    std::uint32_t windows, known_windows;
    bool is_clear;
  };
  for (const auto& [size, num_places, is_bound, asleep, windows, known_windows, is_clear] :
       {Change{2, 2, false, 0.04, 3, 3, true},
        {1, 2, false, 0.04, 3, 3, false},
        {3, 2, false, 0.04, 3, 3, false},
        {2, 2, true, 0.04, 3, 3, false},
        {2, 2, false, 0.06, 3, 3, false},
        {2, 2, false, 0.04, 2, 3, false},
        {2, 2, false, 0.04, 3, 2, false}}) {
    JuggleWatch watch(kTuning, num_places);
    Crew crew(size, 0, num_places);
    watch.begin(0);
    for (std::uint32_t window = 1; window <= windows; ++window) {
      for (std::size_t i = 0; i < size; ++i) crew.use(i, 0.7, 0.3);
      watch.close_window(crew.view(), kLeave, 0, 0.0 + window);
    }
    for (JuggleMember& member : crew.members) member.windows = 3;
    crew.members.back().last.is_bound = is_bound;
    crew.members.back().asleep = asleep;
    crew.members.back().windows = known_windows;
    const JuggleSigns signs = watch.signs(crew.view(), kLeave, 0.5);
    EXPECT_EQ(signs.phase_s, is_clear ? std::optional(1e9) : std::nullopt);
    EXPECT_EQ(signs.asleep, is_clear || is_bound ? asleep : 1);
    EXPECT_NEAR(signs.lost_cpus, size <= num_places && windows >= 3 ? 0.3 : 0, 1e-12);
  }
}

TEST(JuggleWatch, a_small_loss_of_cpu_time_is_not_taken_as_a_sign_of_another_program) {
  for (const double wait_s : {0.19, 0.21}) {
    JuggleWatch watch(kTuning, 2);
    Crew crew(2, 0, 2);
    watch.begin(0);
    for (int window = 1; window <= 3; ++window) {
      for (std::size_t i = 0; i < 2; ++i) crew.use(i, 1 - wait_s, wait_s);
      watch.close_window(crew.view(), kLeave, 0, window);
    }
    EXPECT_EQ(watch.signs(crew.view(), kLeave, 3).phase_s.has_value(), wait_s > 0.2);
  }
}

TEST(JuggleWatch, the_first_windows_weigh_equally_in_the_mean_number_of_lost_cpus) {
  JuggleWatch watch(kTuning, 1);
  Crew crew(1, 0, 1);
  watch.begin(0);
  double sum = 0, now_s = 0;
  for (const double wait : {0.1, 0.5, 0.2, 0.4, 0.3}) {
    sum += wait;
    crew.use(0, 1 - wait, wait);
    watch.close_window(crew.view(), kLeave, 0, ++now_s);
    if (now_s >= 3) {
      EXPECT_NEAR(watch.signs(crew.view(), kLeave, now_s).lost_cpus, sum / now_s, 1e-12);
    }
  }
  for (int i = 0; i < 100; ++i) watch.close_window(crew.view(), kLeave, 0, ++now_s);
  crew.use(0, 0.2, 0.8);
  watch.close_window(crew.view(), kLeave, 0, ++now_s);
  EXPECT_NEAR(watch.signs(crew.view(), kLeave, now_s).lost_cpus, 0.1, 1e-6);
}

TEST(JuggleWatch,
     estimates_short_phases_from_context_switches_and_long_phases_from_windows_with_run_and_sleep) {
  struct Estimate {
    double broken_per_s, turns_per_s;
    JuggleAction action;
    std::optional<double> phase_s;
  };
  for (const auto& [broken_per_s, turns_per_s, action, phase_s] : {Estimate{0.5, 9, kLeave, 4},
                                                                   {1.0, 9, kLeave, 2},
                                                                   {1.25, 0.5, kLeave, 1.6},
                                                                   {1.25, 4, kLeave, 0.25},
                                                                   {1.25, 0, kLeave, {}},
                                                                   {1.25, 4, kRotate, 1.6},
                                                                   {0, 0, kLeave, 1e9}}) {
    SCOPED_TRACE(broken_per_s);
    JuggleWatch watch(kTuning, 2);
    Crew crew(3, 1, 2);
    watch.begin(0);
    idle(watch, crew, 1);
    crew.members[1].broken_per_s = broken_per_s;
    crew.members[0].broken_per_s = broken_per_s / 2;
    crew.members[2].broken_per_s = 77;
    crew.members[2].asleep = 0.9;
    crew.members[2].turns_per_s = 55;
    crew.members[2].windows = kTuning.enough_windows - 1;  // not yet known
    crew.members[1].asleep = 0.2;
    crew.members[0].asleep = 0.4;
    crew.members[0].turns_per_s = turns_per_s;
    crew.members[1].turns_per_s = 44;
    // Threads rotate only if the length of phases was known before.
    if (action == kRotate) watch.signs(crew.view(), kLeave, 1);
    EXPECT_EQ(watch.signs(crew.view(), action, 1).phase_s, phase_s);
    crew.members[1].windows = kTuning.enough_windows - 1;
    JuggleWatch other(kTuning, 2);
    EXPECT_EQ(other.signs(crew.view(), action, 1).phase_s, std::nullopt) << "one of three is known";
  }
}

TEST(JuggleWatch, while_threads_rotate_the_known_length_of_a_short_phase_never_increases) {
  for (const double first_s : {0.08, 0.5}) {
    JuggleWatch watch(kTuning, 1);
    Crew crew(1, 0, 1);
    watch.begin(0);
    idle(watch, crew, 1);
    const auto phase_s = [&](double seen_s) {
      crew.members[0].broken_per_s = 2 / seen_s;
      return *watch.signs(crew.view(), kRotate, 1).phase_s;
    };
    crew.members[0].turns_per_s = 1 / first_s;
    crew.members[0].broken_per_s = 8;
    ASSERT_DOUBLE_EQ(*watch.signs(crew.view(), kLeave, 1).phase_s, std::min(first_s, 0.25));
    EXPECT_DOUBLE_EQ(phase_s(3), first_s < 0.1 ? 0.08 : 3);
    EXPECT_DOUBLE_EQ(phase_s(0.06), 0.06);
    crew.set_windows(0);  // no windows have been observed, so the last known length stays
    EXPECT_DOUBLE_EQ(phase_s(7), 0.06);
    EXPECT_EQ(watch.signs(crew.view(), kLeave, 1).phase_s, std::nullopt);
  }
}

TEST(JuggleWatch, threads_are_uneven_if_bindings_or_thread_count_prevent_equal_numbers_per_place) {
  struct Binding {
    std::vector<int> own;  // the only place of each thread; -1: it may use several
    std::size_t num_places;
    bool is_uneven;
  };
  for (const auto& [own, num_places, is_uneven] : {Binding{{0}, 2, false},
                                                   {{0, 0}, 2, true},
                                                   {{0, 1}, 2, false},
                                                   {{0, -1}, 2, false},
                                                   {{-1, -1, -1}, 2, true},
                                                   {{-1, -1, -1, -1}, 2, false},
                                                   {{0, 0, 1, 1}, 2, false},
                                                   {{0, 0, 0, 1}, 2, true},
                                                   {{0, 0}, 3, true},
                                                   {{0, 2}, 3, false},
                                                   {{0, 0, 1, 1, 2, 2}, 3, false},
                                                   {{0, 0, 0, 1, 2, 2}, 3, true},
                                                   {{0, 0, 0, 1, 2, -1}, 3, false}}) {
    JuggleWatch watch(kTuning, num_places);
    Crew crew(own.size(), 0, num_places);
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] >= 0) crew.members[i].last.own_place = static_cast<PlaceId>(own[i]);
    EXPECT_EQ(watch.signs(crew.view(), kLeave, 0).is_uneven, is_uneven)
        << testing::PrintToString(own) << " on " << num_places << " places";
  }
}

// Place 2 has no thread. The thread on place 0 runs whenever it wants to run. The thread on place 1
// runs only for the fraction `runs` of the time for which it wants to run.
TEST(JuggleWatch, a_place_whose_threads_run_much_less_than_they_want_is_noticed_after_six_windows) {
  for (const auto& [runs, speed, wants, windows, is_seen] : {std::tuple{0.75, 1.0, 1.0, 6, true},
                                                             {0.85, 1.0, 1.0, 6, false},
                                                             {1.0, 0.75, 1.0, 6, true},
                                                             {0.9, 0.85, 1.0, 6, true},
                                                             {0.75, 1.0, 1.0, 5, false},
                                                             {0.5, 1.0, 0.3, 6, true},
                                                             {0.5, 1.0, 0.1, 6, false}}) {
    SCOPED_TRACE(testing::Message() << runs << ", " << speed << ", " << wants << ", " << windows);
    JuggleWatch watch(kTuning, 3);
    Crew crew(2, 0, 3);
    crew.places[1].speed = speed;
    watch.begin(0);
    for (PlaceId p = 0; p < 2; ++p) {
      crew.members[p].place = p;
      crew.members[p].gained_s = p == 0 ? 2 : 2 * wants * runs;
      crew.members[p].waited_s = p == 0 ? 0 : 2 * wants * (1 - runs);
    }
    for (int i = 0; i < 50; ++i) watch.observe(crew.view(), kLeave, 2, 0);
    idle(watch, crew, windows);
    EXPECT_EQ(watch.signs(crew.view(), kLeave, 9).has_stranger, is_seen);
    crew.places.resize(2);
    for (JuggleMember& member : crew.members) member.last.own_place.reset();
    EXPECT_EQ(watch.signs(crew.view(), kLeave, 9).is_uneven, is_seen);
  }
}

}  // namespace
}  // namespace poise
