// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_stance.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <tuple>

#include "tests/support/seeds.h"

#include "poise/online/simulated_cpus.h"

namespace poise {
namespace {

using Affinities = std::vector<std::vector<PlaceId>>;

constexpr double kRunS = 10;

/// What a program on simulated cpus has achieved after kRunS seconds.
struct Result {
  double phases = 0;
  JuggleAction action = JuggleAction::leave;
  double period_s = 0;
  int orders = 0;
};

/// A test case: a program on two cpus, and the number of other programs on the same cpus.
struct Case {
  double phase_s;
  SimulatedWait wait;
  Affinities own;
  int strangers = 0;
  double slice_s = 0.003;
  bool keeps_claims = true;
};

Result run(const Case& given, JugglePolicy policy) {
  JuggleTeam team({.policy = policy}, std::vector<JugglePlace>(2));
  SimulatedCpus cpus(team, 2);
  cpus.slice_s = given.slice_s;
  cpus.keeps_claims = given.keeps_claims;
  cpus.reports_late = true;
  cpus.add_program(given.phase_s, given.wait, given.own);
  for (int i = 0; i < given.strangers; ++i) cpus.add_stranger();
  cpus.run_until(kRunS);
  return {static_cast<double>(cpus.programs[0].phases), team.action(), team.period_s(),
          cpus.orders};
}

double speed_up(const Case& given) {
  return run(given, JugglePolicy::automatic).phases / run(given, JugglePolicy::off).phases;
}

const Affinities kTwoFree(2), kThreeFree(3);
const Affinities kThreeBound = {{0}, {1}, {0}}, kBothOnOne = {{0}, {0}};

// Observed with loads like those of llama.cpp: two spinning threads, with phases of 200 us or of
// 100 ms, shared two cpus with another program. The kernel put both threads on one cpu for a third
// of the time.
TEST(JuggleStances, two_unbound_spinning_threads_alongside_another_program_get_a_cpu_each) {
  for (const double phase_s : {0.0002, 0.1}) {
    SCOPED_TRACE(phase_s);
    const Case spinners{phase_s, SimulatedWait::spin, kTwoFree, 1};
    const Result balanced = run(spinners, JugglePolicy::automatic);
    EXPECT_EQ(balanced.action, JuggleAction::rotate);
    EXPECT_DOUBLE_EQ(balanced.period_s, 0.02);
    EXPECT_GT(speed_up(spinners), 1.2);
  }
}

// Observed in a run with 1.5 s of work, eight threads, eight cpus and two other programs: the
// balancer moved the first thread too late. It gained only a quarter of what a balancer gains that
// acts from the start.
TEST(JuggleStances, unbound_spinning_threads_alongside_other_programs_are_balanced_within_300_ms) {
  for (const std::uint32_t cpus : {2u, 8u}) {
    SCOPED_TRACE(cpus);
    JuggleTeam team({}, std::vector<JugglePlace>(cpus));
    SimulatedCpus simulated(team, cpus);
    simulated.add_program(0.1, SimulatedWait::spin, Affinities(cpus));
    simulated.add_stranger();
    simulated.run_until(0.3);
    EXPECT_EQ(team.action(), JuggleAction::rotate);
    simulated.run_until(3);
    EXPECT_EQ(team.action(), JuggleAction::rotate) << "it goes on";
  }
}

// With long time slices and several other programs, a wait for a cpu may last for 30 ms. The kernel
// reports a wait only when it ends; until then the thread seems to sleep.
TEST(JuggleStances, spinning_threads_that_wait_a_long_time_for_a_cpu_do_not_count_as_asleep) {
  JuggleTeam team({}, std::vector<JugglePlace>(2));
  SimulatedCpus cpus(team, 2);
  cpus.slice_s = 0.01;
  cpus.reports_late = true;
  cpus.add_program(0.1, SimulatedWait::spin, kTwoFree);
  for (int i = 0; i < 3; ++i) cpus.add_stranger();
  for (double now_s = 0.5; now_s < kRunS; now_s += 0.1) {
    cpus.run_until(now_s);
    ASSERT_EQ(team.action(), JuggleAction::rotate) << now_s;
  }
}

// With long time slices and more other programs than cpus, balancing every 20 ms made the threads
// slower: a moved thread often waited for a whole period until the other programs had had their
// turns.
TEST(JuggleStances, balancing_never_slows_spinning_threads_down_while_several_other_programs_run) {
  POISE_SKIP_IF_SLOW();
  for (const int strangers : {2, 3})
    for (const double slice_s : {0.003, 0.01})
      for (const double phase_s : {0.0002, 0.02, 0.1, 0.5})
        for (const bool keeps_claims : {false, true})
          EXPECT_GT(
              speed_up({phase_s, SimulatedWait::spin, kTwoFree, strangers, slice_s, keeps_claims}),
              0.97)
              << strangers << " other programs, slices of " << slice_s << " s, phases of "
              << phase_s << " s, claims are kept: " << keeps_claims;
}

TEST(JuggleStances, leaves_threads_to_the_kernel_again_when_a_competing_program_has_ended) {
  JuggleTeam team({}, std::vector<JugglePlace>(2));
  SimulatedCpus cpus(team, 2);
  cpus.add_program(0.0002, SimulatedWait::spin, kTwoFree);
  cpus.add_stranger();
  cpus.run_until(5);
  ASSERT_EQ(team.action(), JuggleAction::rotate);
  cpus.end_strangers();
  cpus.run_until(10);
  EXPECT_EQ(team.action(), JuggleAction::leave);
}

TEST(JuggleStances, unbound_spinning_threads_are_left_alone_if_no_other_program_runs) {
  for (const std::size_t threads : {1u, 2u}) {
    const Result watched =
        run({0.0002, SimulatedWait::spin, Affinities(threads)}, JugglePolicy::automatic);
    EXPECT_EQ(watched.orders, 0) << threads;
  }
}

// Three threads that spin in phases of 100 ms were observed on two cpus: the kernel moved a thread
// from cpu to cpu about once per phase, so two threads shared a cpu for most of each phase.
TEST(JuggleStances, unbound_spinning_threads_rotate_over_the_cpus_every_20_ms_if_cpus_are_too_few) {
  for (const auto& [phase_s, least] : {std::pair{0.03, 1.1}, {0.1, 1.2}, {0.3, 1.05}}) {
    SCOPED_TRACE(phase_s);
    const Case spinners{phase_s, SimulatedWait::spin, kThreeFree};
    const Result balanced = run(spinners, JugglePolicy::automatic);
    EXPECT_EQ(balanced.action, JuggleAction::rotate);
    EXPECT_DOUBLE_EQ(balanced.period_s, 0.02);
    EXPECT_GT(speed_up(spinners), least);
  }
}

// In phases shorter than a time slice, rotating makes the program neither faster nor slower.
TEST(JuggleStances, programs_with_short_phases_do_not_become_slower_if_spinning_threads_rotate) {
  for (const SimulatedWait wait : {SimulatedWait::spin, SimulatedWait::yield})
    for (const double phase_s : {0.0002, 0.002, 0.01})
      EXPECT_GT(speed_up({phase_s, wait, kThreeFree}), 0.99) << phase_s;
}

TEST(JuggleStances, unbound_threads_that_sleep_at_barriers_are_left_alone) {
  for (const double phase_s : {0.01, 0.1, 0.3})
    EXPECT_EQ(run({phase_s, SimulatedWait::sleep, kThreeFree}, JugglePolicy::automatic).orders, 0)
        << phase_s;
}

// Alongside another program, threads sleep so little at barriers that they may seem never to sleep.
TEST(JuggleStances,
     balancing_alongside_another_program_does_not_slow_down_unbound_threads_that_sleep) {
  for (const double phase_s : {0.03, 0.1, 0.3, 1.0})
    EXPECT_GE(speed_up({phase_s, SimulatedWait::sleep, kThreeFree, 1}), 1) << phase_s;
}

// Two OpenMP runtimes in one process may bind all threads to the first cpu.
TEST(JuggleStances, threads_bound_to_the_same_cpu_get_a_cpu_each_even_if_phases_are_short) {
  POISE_SKIP_IF_SLOW();
  for (const double phase_s : {0.0002, 0.002, 0.05, 1.0})
    for (const SimulatedWait wait : {SimulatedWait::sleep, SimulatedWait::spin}) {
      SCOPED_TRACE(testing::Message() << phase_s << " s, " << (wait == SimulatedWait::spin));
      const Case both{phase_s, wait, kBothOnOne};
      const Result spread = run(both, JugglePolicy::automatic);
      EXPECT_EQ(spread.action, JuggleAction::spread);
      EXPECT_EQ(spread.orders, 2);
      EXPECT_GT(speed_up(both), 1.7);
    }
}

// OMP_PROC_BIND=true binds three threads to two cpus unevenly: two of them to the same cpu.
TEST(JuggleStances, lets_unevenly_bound_threads_run_on_all_cpus_if_phases_are_short) {
  for (const double phase_s : {0.005, 0.008}) {
    SCOPED_TRACE(phase_s);
    const Case bound{phase_s, SimulatedWait::sleep, kThreeBound};
    const Result widened = run(bound, JugglePolicy::automatic);
    EXPECT_EQ(widened.action, JuggleAction::widen);
    EXPECT_EQ(widened.orders, 3) << "one order per thread is enough";
    EXPECT_GT(speed_up(bound), 1.05);
  }
  // If phases are shorter than a time slice, letting the threads run on all cpus makes the program
  // neither faster nor slower.
  EXPECT_GT(speed_up({0.002, SimulatedWait::sleep, kThreeBound}), 0.99);
}

// FT and IS of the NAS parallel benchmarks have bound threads and phases of 20 to 90 ms.
TEST(JuggleStances, rotates_unevenly_bound_threads_every_5_to_50_ms_if_phases_last_30_to_90_ms) {
  for (const double phase_s : {0.03, 0.06, 0.09}) {
    SCOPED_TRACE(phase_s);
    const Case bound{phase_s, SimulatedWait::sleep, kThreeBound};
    const Result balanced = run(bound, JugglePolicy::automatic);
    EXPECT_EQ(balanced.action, JuggleAction::rotate);
    EXPECT_GE(balanced.period_s, 0.005);
    EXPECT_LE(balanced.period_s, 0.05);
    EXPECT_GT(speed_up(bound), 1.1);
  }
}

TEST(JuggleStances, short_phases_are_not_detected_if_the_kernel_does_not_count_context_switches) {
  JuggleTeam team({}, std::vector<JugglePlace>(2));
  SimulatedCpus cpus(team, 2);
  cpus.counts_turns = false;
  cpus.add_program(0.01, SimulatedWait::sleep, kThreeBound);
  cpus.run_until(5);
  EXPECT_EQ(cpus.orders, 0);
}

TEST(JuggleStance, binds_sleeping_threads_to_as_many_cpus_as_the_quota_allows) {
  JuggleStance stance(0.1);
  const JuggleSigns even{.asleep = 0.3, .phase_s = 1};
  EXPECT_EQ(stance.next(even, 0), JuggleAction::leave);
  JuggleSigns confined = even;
  confined.is_confined = true;
  EXPECT_EQ(stance.next(confined, 1), JuggleAction::widen);
  confined.asleep = 0;  // no thread sleeps, so threads may spin while they wait
  EXPECT_EQ(stance.next(confined, 2), JuggleAction::leave);
}

TEST(JuggleStance, stops_binding_threads_after_a_second_if_they_still_wait_for_cpus) {
  JuggleStance stance(0.1);
  const JuggleSigns crowded{.fits = true, .asleep = 0.3, .lost_cpus = 0.5, .phase_s = 0.001};
  EXPECT_EQ(stance.next(crowded, 1), JuggleAction::spread);
  EXPECT_EQ(stance.next(crowded, 1.9), JuggleAction::spread);
  EXPECT_EQ(stance.next(crowded, 2.1), JuggleAction::leave);
  EXPECT_EQ(stance.next(crowded, 2.5), JuggleAction::leave) << "it rests";
}

TEST(JuggleStance, the_time_between_balancing_steps_is_at_least_five_milliseconds) {
  JuggleStance stance(0.1);
  const JuggleSigns bound{.is_uneven = true, .is_bound = true, .asleep = 0.3, .phase_s = 0.02};
  EXPECT_EQ(stance.next(bound, 1), JuggleAction::rotate);
  EXPECT_DOUBLE_EQ(stance.period_s(), 0.005);
}

TEST(JuggleStance,
     alongside_other_programs_the_balancing_period_is_twice_the_wait_for_a_cpu_but_within_limits) {
  JuggleSigns crowded{.fits = true, .lost_cpus = 0.5, .phase_s = 1e9};
  for (const auto& [wait_s, period_s] : {std::pair{0.003, 0.02}, {0.02, 0.04}, {1., 0.1}}) {
    JuggleStance stance(0.1);
    crowded.longest_wait_s = wait_s;
    EXPECT_EQ(stance.next(crowded, 1), JuggleAction::rotate);
    EXPECT_DOUBLE_EQ(stance.period_s(), period_s);
  }
}

TEST(JuggleStance, chooses_an_action_that_fits_what_was_observed) {
  struct Row {
    JuggleSigns signs;
    JuggleAction action;
  };
  using enum JuggleAction;
  for (const auto& [signs, action] :
       {// Bound threads.
        Row{{.is_bound = true, .phase_s = 1}, leave},
        {{.is_uneven = true, .is_bound = true, .fits = true, .phase_s = 0.001}, spread},
        {{.is_uneven = true, .is_bound = true, .fits = true, .has_stranger = true, .phase_s = 1},
         rotate},
        {{.is_uneven = true, .is_bound = true, .phase_s = 0.0187}, widen},
        {{.is_uneven = true, .is_bound = true, .phase_s = 0.0188}, rotate},
        // Unbound threads that do not sleep.
        {{.lost_cpus = 0.19, .phase_s = 1}, leave},
        {{.lost_cpus = 0.21, .phase_s = 1}, rotate},
        {{.asleep = 0.049, .lost_cpus = 0.21, .phase_s = 1}, rotate},
        {{.asleep = 0.051, .lost_cpus = 0.21, .phase_s = 1}, leave},
        {{.is_uneven = true, .phase_s = 1, .even_gain = 1.04}, leave},
        {{.is_uneven = true, .phase_s = 1, .even_gain = 1.06}, rotate},
        {{.phase_s = 1, .even_gain = 1.06}, leave},
        // Unbound threads that sleep.
        {{.fits = true, .asleep = 0.3, .lost_cpus = 0.21, .phase_s = 0.01}, spread},
        {{.fits = true, .asleep = 0.3, .lost_cpus = 0.19, .phase_s = 0.01}, leave},
        {{.fits = true, .asleep = 0.3, .lost_cpus = 0.21, .phase_s = 0.0188}, leave},
        {{.asleep = 0.3, .lost_cpus = 0.21, .phase_s = 0.01}, leave},
        // Many new threads, or a quota.
        {{.lost_cpus = 0.5, .phase_s = 1, .births_per_s = 19.9}, rotate},
        {{.lost_cpus = 0.5, .phase_s = 1, .births_per_s = 20}, leave},
        {{.is_confined = true, .asleep = 0.051, .phase_s = 1}, widen},
        {{.is_confined = true, .asleep = 0.049, .lost_cpus = 0.5, .phase_s = 1}, leave}}) {
    JuggleStance stance(0.1);
    EXPECT_EQ(stance.next(signs, 1), action)
        << "phases of " << *signs.phase_s << " s, sleep of " << signs.asleep << ", "
        << signs.lost_cpus << " lost cpus, gain of " << signs.even_gain;
    EXPECT_EQ(stance.action(), action);
  }
}

TEST(JuggleStance,
     rotation_ends_if_sleep_exceeds_twice_its_limit_or_lost_cpus_fall_below_half_of_their_limit) {
  const JuggleSigns start{.lost_cpus = 0.3, .phase_s = 1};
  for (const auto& [asleep, lost_cpus, goes_on] :
       {std::tuple{0.09, 0.11, true}, {0.11, 0.11, false}, {0.09, 0.09, false}}) {
    JuggleStance stance(0.1);
    ASSERT_EQ(stance.next(start, 1), JuggleAction::rotate);
    EXPECT_EQ(stance.next({.asleep = asleep, .lost_cpus = lost_cpus, .phase_s = 1}, 2),
              goes_on ? JuggleAction::rotate : JuggleAction::leave);
  }
  JuggleStance stance(0.1);
  ASSERT_EQ(stance.next(start, 1), JuggleAction::rotate);
  EXPECT_EQ(stance.next({.is_uneven = true, .phase_s = 1}, 2), JuggleAction::rotate)
      << "although it would not begin with this gain";
}

TEST(JuggleStance, lets_threads_use_all_cpus_until_the_threads_no_longer_sleep) {
  JuggleStance stance(0.1);
  ASSERT_EQ(stance.next({.is_uneven = true, .is_bound = true, .phase_s = 0.01}, 1),
            JuggleAction::widen);
  EXPECT_EQ(stance.next({.is_uneven = true, .is_bound = true, .asleep = 0.2, .phase_s = 1}, 2),
            JuggleAction::widen);
  EXPECT_EQ(stance.next({.is_uneven = true, .is_bound = true, .phase_s = 1}, 3),
            JuggleAction::rotate);
}

TEST(JuggleStance, threads_that_never_sleep_get_a_short_balancing_period_only_if_moving_them_pays) {
  const auto period_s = [](const JuggleSigns& signs, double longest_s = 0.1) {
    JuggleStance stance(longest_s);
    EXPECT_EQ(stance.period_s(), longest_s) << "before the first decision";
    stance.next(signs, 1);
    return stance.period_s();
  };
  EXPECT_DOUBLE_EQ(period_s({.phase_s = 1}), 0.1);
  EXPECT_DOUBLE_EQ(period_s({.phase_s = 1, .even_gain = 1.5}), 0.02);
  EXPECT_DOUBLE_EQ(period_s({.phase_s = 1, .even_gain = 1.5}, 0.01), 0.01);
  EXPECT_DOUBLE_EQ(period_s({.asleep = 0.3, .phase_s = 1, .even_gain = 1.5}), 0.1);
  EXPECT_DOUBLE_EQ(period_s({.asleep = 0.3, .phase_s = 0.3}), 0.06);
  EXPECT_DOUBLE_EQ(period_s({.lost_cpus = 0.5, .longest_wait_s = 0.016, .phase_s = 1}), 0.032);
  EXPECT_DOUBLE_EQ(period_for(1e-3, 0.002), 0.002);
}

TEST(JuggleStance, every_action_has_a_name) {
  for (const auto action :
       {JuggleAction::leave, JuggleAction::rotate, JuggleAction::spread, JuggleAction::widen})
    EXPECT_FALSE(name_of(action).empty());
}

}  // namespace
}  // namespace poise
