// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_causes.h"

#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/online/simulated_cpus.h"

namespace poise {
namespace {

using Affinities = std::vector<std::vector<PlaceId>>;
using Kind = JuggleCause::Kind;
using testing::HasSubstr;

constexpr double kPhaseS = 0.0002, kRunS = 5;

/// A run on simulated cpus in which the balancer watches the threads but does not move them.
class Patient {
 public:
  explicit Patient(std::uint32_t num_cpus, JugglePolicy policy = JugglePolicy::off)
      : team_({.policy = policy}, std::vector<JugglePlace>(num_cpus)), cpus(team_, num_cpus) {}

  JuggleFacts facts(double seconds = kRunS) {
    cpus.run_until(cpus.now_s + seconds);
    JuggleFacts facts = team_.facts();
    for (std::uint32_t cpu = 0; cpu < team_.num_places(); ++cpu) facts.cpus.push_back(cpu);
    return facts;
  }
  Kind worst() { return causes_of(facts()).front().kind; }

 private:
  JuggleTeam team_;

 public:
  SimulatedCpus cpus;
};

// Tests with given facts, without a simulated run.

/// Four threads on cpus 4 to 7 that lose no time in ten seconds.
JuggleFacts good_facts() {
  JuggleFacts facts;
  facts.watched_s = 10;
  facts.threads = 4;
  facts.cpus = {4, 5, 6, 7};
  facts.taken_s.assign(4, 0);
  return facts;
}

/// The first cause found in good_facts() after `change` has changed them.
JuggleCause first_cause(const std::function<void(JuggleFacts&)>& change) {
  JuggleFacts facts = good_facts();
  change(facts);
  return causes_of(facts).front();
}

TEST(JuggleCauses, says_that_nothing_can_be_gained_or_that_the_threads_computed_too_briefly) {
  EXPECT_EQ(first_cause([](JuggleFacts&) {}).kind, Kind::nothing);
  EXPECT_THAT(first_cause([](JuggleFacts&) {}).text,
              HasSubstr("4 threads had all cpus that they could use, 4"));
  EXPECT_THAT(first_cause([](JuggleFacts& f) {
                f.threads = 1;
                f.quota_cpus = 1.5;
              }).text,
              HasSubstr("1 thread had all cpus that it could use, 1"));
  EXPECT_EQ(first_cause([](JuggleFacts& f) { f.watched_s = 0.301; }).kind, Kind::nothing);
  EXPECT_EQ(first_cause([](JuggleFacts& f) { f.watched_s = 0.299; }).kind, Kind::unknown);
  EXPECT_EQ(first_cause([](JuggleFacts& f) { f.threads = 0; }).kind, Kind::unknown);
}

TEST(JuggleCauses, threads_count_as_spinning_if_they_outnumber_the_cpus_and_hardly_sleep) {
  struct Spinners {
    std::uint32_t threads;
    bool waits_actively;
    double turns, asleep_s;
    bool is_spinning;
  };
  for (const auto& [threads, waits_actively, turns, asleep_s, is_spinning] :
       {Spinners{9, true, 0, 0, true},
        {4, true, 0, 0, false},
        {9, false, 0, 0, false},
        {9, true, 0, 0.49, true},
        {9, true, 0, 0.51, false},
        {9, false, 20'001, 0, true},
        {9, false, 19'999, 0, false}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.threads = threads;
      f.threads_s = 10 * threads;
      f.waits_actively = waits_actively;
      f.turns = turns;
      f.asleep_s = asleep_s;
    });
    EXPECT_EQ(cause.kind, is_spinning ? Kind::spinning : Kind::nothing) << threads << ", " << turns;
    EXPECT_EQ(cause.gain, is_spinning ? 3 : 1);
  }
}

TEST(JuggleCauses,
     the_gain_of_unbinding_threads_is_the_largest_number_of_threads_per_cpu_divided_by_the_mean) {
  struct Binding {
    std::vector<std::uint32_t> on;
    std::uint32_t threads;
    Kind kind;
    double gain;
    const char* text;
  };
  for (const auto& [on, threads, kind, gain, text] :
       {Binding{{3, 1}, 4, Kind::bound_unevenly, 1.5, "use 4 threads or 6"},
        {{4, 0}, 4, Kind::one_cpu, 2, "all 4 threads are bound to cpu 4, and the other cpu is"},
        {{0, 0, 3}, 3, Kind::one_cpu, 3, "bound to cpu 6, and 2 other cpus are not used"},
        {{2, 2}, 4, Kind::nothing, 1, ""},
        {{2, 1, 1}, 4, Kind::bound_unevenly, 1.5, "use 3 threads or 6"},
        {{1, 0, 2}, 3, Kind::bound_unevenly, 2, "2 to one and 0 to another: use 3 threads or 6"},
        {{1, 0, 1}, 2, Kind::nothing, 1, ""},
        {{0, 2, 0}, 2, Kind::one_cpu, 2, "cpu 5"},
        {{1, 0}, 1, Kind::nothing, 1, ""},
        {{3, 0}, 4, Kind::nothing, 1, ""},
        {{3}, 3, Kind::nothing, 1, ""}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.bound_on = on;
      f.threads = threads;
    });
    EXPECT_EQ(cause.kind, kind) << testing::PrintToString(on);
    EXPECT_DOUBLE_EQ(cause.gain, gain) << testing::PrintToString(on);
    EXPECT_THAT(cause.text, HasSubstr(text));
  }
}

TEST(JuggleCauses, the_gain_without_a_quota_is_the_number_of_usable_cpus_divided_by_the_quota) {
  struct Quota {
    double cpus;
    std::uint32_t threads, allowed;
    double gain;  // 1: no cause
  };
  for (const auto& [cpus, threads, allowed, gain] : {Quota{2.5, 4, 0, 1.6},
                                                     {4, 4, 0, 1},
                                                     {4, 6, 8, 1.5},
                                                     {4, 9, 8, 2},
                                                     {3, 9, 0, 4 / 3.0},
                                                     {1, 1, 0, 1}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.quota_cpus = cpus;
      f.threads = threads;
      f.allowed_cpus = allowed;
      f.lost_cpu_s = gain > 1 ? 9 : 0;  // lost because of the quota, not because of another program
    });
    EXPECT_EQ(cause.kind, gain > 1 ? Kind::quota : Kind::nothing) << cpus << ", " << threads;
    EXPECT_DOUBLE_EQ(cause.gain, gain) << cpus << ", " << threads;
  }
  EXPECT_THAT(
      first_cause([](JuggleFacts& f) { f.quota_cpus = 2.5; }).text,
      HasSubstr("pays for 2.5 cpus, and 4 threads compute: the kernel stops all of them for "
                "a part of each 100 ms; use 3 threads, or ask for more cpus"));
  EXPECT_THAT(first_cause([](JuggleFacts& f) {
                f.quota_cpus = 0.5;
                f.threads = 1;
              }).text,
              HasSubstr("1 thread computes: the kernel stops it for a part of each 100 ms; ask "
                        "for more cpus"));
  EXPECT_THAT(first_cause([](JuggleFacts& f) { f.quota_cpus = 1; }).text,
              HasSubstr("pays for 1 cpu, and 4 threads compute"));
}

TEST(JuggleCauses,
     the_gain_of_stopping_another_program_follows_from_the_cpu_time_that_the_program_takes) {
  struct Stranger {
    double taken_s, lost_s;
    std::uint32_t threads, bound;
    double gain;  // 1: no cause
    const char* text;
  };
  for (const auto& [taken_s, lost_s, threads, bound, gain, text] :
       {Stranger{3.75, 0, 4, 1, 1.6, "38% of cpu 6 from the threads: stop it, or use 3 threads"},
        {2.1, 9, 3, 1, 1 / 0.79, "21% of cpu 6 from the threads: stop it, or leave that cpu"},
        {1.9, 0, 4, 1, 1, ""},
        {0, 5, 4, 0, 2, "50% of one of the cpus"},
        {0, 1.9, 4, 0, 1, ""},
        {0, 5, 4, 1, 1, ""},
        {0, 9.96, 4, 0, 100, "100% of one of the cpus"},
        {0, 8, 5, 0, 1.25, "80% of one of the cpus from the threads: stop it"},
        {0, 30, 5, 0, 4, "other programs take 3.0 of the 4 cpus from the threads: stop them"},
        {0, 50, 9, 0, 100, "4.0 of the 4 cpus"}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.taken_s[2] = taken_s;
      f.lost_cpu_s = lost_s;
      f.threads = threads;
      f.bound_on = {0, 0, bound, 0};
    });
    EXPECT_EQ(cause.kind, gain > 1 ? Kind::stranger : Kind::nothing) << taken_s << ", " << lost_s;
    EXPECT_NEAR(cause.gain, gain, 1e-9);
    EXPECT_THAT(cause.text, HasSubstr(text));
  }
}

TEST(JuggleCauses, recommends_fewer_cpus_or_threads_only_if_that_is_faster) {
  struct Stranger {
    std::uint32_t threads, cpus;
    double taken_s;  // seconds of cpu 0 that another program takes, of ten seconds
    std::string text;
  };
  for (const auto& [threads, cpus, taken_s, text] :
       {Stranger{2, 2, 2.3, "23% of cpu 0 from the threads: stop it"},
        {2, 2, 4.9, "49% of cpu 0 from the threads: stop it"},
        {2, 2, 5.1, "51% of cpu 0 from the threads: stop it, or use 1 thread"},
        {3, 2, 4.9, "49% of cpu 0 from the threads: stop it"},
        {3, 2, 5.1, "51% of cpu 0 from the threads: stop it, or leave that cpu to it (--cpus)"},
        {8, 8, 2.1, "21% of cpu 0 from the threads: stop it, or use 7 threads"},
        {1, 2, 2.1, "21% of cpu 0 from the threads: stop it, or leave that cpu to it (--cpus)"}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.threads = threads;
      f.cpus.resize(cpus);
      std::iota(f.cpus.begin(), f.cpus.end(), 0);
      f.taken_s.assign(cpus, 0);
      f.taken_s[0] = taken_s;
    });
    EXPECT_EQ(cause.text, "another program takes " + text);
  }
}

TEST(JuggleCauses, adds_up_what_other_programs_take_from_several_cpus) {
  const JuggleCause cause = first_cause([](JuggleFacts& f) { f.taken_s = {7.5, 1.9, 7, 2.1}; });
  EXPECT_EQ(cause.text, "other programs take 1.7 of the 4 cpus from the threads: stop them");
  EXPECT_DOUBLE_EQ(cause.gain, 4);
}

TEST(JuggleCauses, adds_up_what_other_programs_take_from_free_threads_that_could_each_have_a_cpu) {
  struct Stranger {
    std::uint32_t threads;  // on two cpus
    double lost_s, taken_s;
    const char* text;
  };
  for (const auto& [threads, lost_s, taken_s, text] :
       {Stranger{2, 8.6, 17.2, "other programs take 1.7 of the 2 cpus from the threads: stop them"},
        {2, 3.3, 6.6, "another program takes 66% of one of the cpus from the threads: stop it"},
        {2, 5.1, 5.1,
         "another program takes 51% of one of the cpus from the threads: stop it, or "
         "use 1 thread"},
        {1, 7.1, 7.1, "another program takes 71% of one of the cpus from the threads: stop it"}}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.threads = threads;
      f.cpus = {0, 1};
      f.taken_s = {0, 0};
      f.bound_on = {0, 0};
      f.lost_cpu_s = lost_s;
      f.taken_cpu_s = taken_s;
    });
    EXPECT_EQ(cause.text, text);
    EXPECT_NEAR(cause.gain, 10 / (10 - lost_s), 1e-9);
  }
}

TEST(JuggleCauses, does_not_claim_that_threads_had_all_cpus_if_their_sleep_can_hide_waits) {
  for (const auto& [threads, asleep_s] : {std::pair{4u, 2.0}, {5u, 0.0}, {5u, 2.0}}) {
    const JuggleCause cause =
        first_cause([&, threads = threads, asleep_s = asleep_s](JuggleFacts& f) {
          f.threads = threads;
          f.asleep_s = asleep_s;
        });
    EXPECT_EQ(cause.kind, Kind::nothing);
    EXPECT_EQ(cause.text.find("had all cpus") == cause.text.npos, threads == 5 && asleep_s > 0);
  }
}

TEST(JuggleCauses,
     names_the_only_cpu_of_the_threads_and_does_not_advise_leaving_it_to_another_program) {
  for (const std::uint32_t threads : {1, 2}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.threads = threads;
      f.cpus = {6};
      f.taken_s = {0};
      f.lost_cpu_s = 5;
    });
    EXPECT_EQ(cause.text,
              "another program takes 50% of cpu 6 from the threads: stop it, or use another cpu "
              "(--cpus)");
    EXPECT_DOUBLE_EQ(cause.gain, 2);
  }
}

TEST(JuggleCauses,
     blames_short_lived_threads_as_well_as_another_program_if_threads_are_created_all_the_time) {
  for (const double births : {9.9, 10.1}) {
    const JuggleCause cause = first_cause([&](JuggleFacts& f) {
      f.lost_cpu_s = 4.9;
      f.births = births;
    });
    EXPECT_EQ(cause.kind, births < 10 ? Kind::stranger : Kind::short_lived);
    EXPECT_THAT(cause.text, HasSubstr("49% of one of the cpus"));
    EXPECT_EQ(cause.text.find("short-lived threads") == cause.text.npos, births < 10);
  }
}

TEST(JuggleCauses, only_spinning_and_quotas_are_causes_that_poise_juggle_cannot_remove) {
  for (const Kind kind : {Kind::unknown, Kind::spinning, Kind::one_cpu, Kind::bound_unevenly,
                          Kind::quota, Kind::stranger, Kind::short_lived, Kind::nothing})
    EXPECT_EQ(is_for_user(kind), kind == Kind::spinning || kind == Kind::quota) << name_of(kind);
}

// Tests of runs that lose time for exactly one known reason.

TEST(JuggleCauses, reports_spinning_as_the_cause_if_spinning_threads_outnumber_the_cpus) {
  Patient patient(2);
  patient.cpus.add_program(kPhaseS, SimulatedWait::spin, Affinities(3));
  JuggleFacts facts = patient.facts();
  facts.waits_actively = true;
  const JuggleCause cause = causes_of(facts).front();
  EXPECT_EQ(cause.kind, Kind::spinning);
  EXPECT_THAT(cause.text, HasSubstr("3 threads on 2 cpus"));
  EXPECT_THAT(cause.text, HasSubstr("use 2 threads"));
  EXPECT_TRUE(is_for_user(cause.kind));
}

TEST(JuggleCauses, threads_that_yield_all_the_time_count_as_spinning) {
  Patient patient(2);
  patient.cpus.add_program(kPhaseS, SimulatedWait::spin, Affinities(3));
  JuggleFacts facts = patient.facts();
  facts.turns = 5000 * facts.watched_s;
  EXPECT_EQ(causes_of(facts).front().kind, Kind::spinning);
}

TEST(JuggleCauses, the_cause_names_the_cpu_to_which_all_threads_are_bound) {
  for (const SimulatedWait wait : {SimulatedWait::spin, SimulatedWait::sleep}) {
    Patient patient(2);
    patient.cpus.add_program(kPhaseS, wait, {{1}, {1}, {1}});
    const JuggleCause cause = causes_of(patient.facts()).front();
    EXPECT_EQ(cause.kind, Kind::one_cpu);
    EXPECT_THAT(cause.text, HasSubstr("all 3 threads are bound to cpu 1"));
    EXPECT_DOUBLE_EQ(cause.gain, 2);
  }
}

TEST(JuggleCauses,
     advises_a_thread_count_divisible_by_the_cpu_count_if_threads_are_bound_unevenly) {
  Patient patient(2);
  patient.cpus.add_program(0.1, SimulatedWait::sleep, {{0}, {1}, {0}});
  const JuggleCause cause = causes_of(patient.facts()).front();
  EXPECT_EQ(cause.kind, Kind::bound_unevenly);
  EXPECT_THAT(cause.text, HasSubstr("use 2 threads or 4"));
  EXPECT_NEAR(cause.gain, 4. / 3, 1e-9);
}

TEST(JuggleCauses, advises_fewer_threads_if_the_cpu_quota_is_below_the_number_of_threads) {
  Patient patient(8);
  patient.cpus.add_program(0.1, SimulatedWait::sleep, Affinities(8));
  JuggleFacts facts = patient.facts();
  facts.quota_cpus = 2.5;
  const JuggleCause cause = causes_of(facts).front();
  EXPECT_EQ(cause.kind, Kind::quota);
  EXPECT_THAT(cause.text, HasSubstr("pays for 2.5 cpus, and 8 threads"));
  EXPECT_THAT(cause.text, HasSubstr("use 3 threads"));
  EXPECT_NEAR(cause.gain, 8 / 2.5, 1e-9);
}

TEST(JuggleCauses, reports_the_cpu_quota_even_if_the_threads_use_no_more_cpus_than_it_allows) {
  JuggleFacts facts{.watched_s = 10, .threads = 8, .cpus = {0, 1}};
  facts.allowed_cpus = 4;
  facts.quota_cpus = 2;
  const JuggleCause cause = causes_of(facts).front();
  EXPECT_EQ(cause.kind, Kind::quota);
  EXPECT_NEAR(cause.gain, 2, 1e-9);
}

TEST(JuggleCauses, waiting_caused_by_a_cpu_quota_is_not_blamed_on_another_program) {
  JuggleFacts facts{.watched_s = 10, .threads = 2, .cpus = {0, 1}};
  facts.quota_cpus = 1;
  facts.lost_cpu_s = 5;
  facts.taken_s = {5, 5};
  const auto causes = causes_of(facts);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].kind, Kind::quota);
}

TEST(JuggleCauses, if_threads_are_bound_the_cause_names_the_cpu_that_another_program_uses) {
  Patient patient(2);
  patient.cpus.add_program(0.1, SimulatedWait::spin, {{0}, {1}});
  patient.cpus.add_stranger({1});
  const JuggleCause cause = causes_of(patient.facts()).front();
  EXPECT_EQ(cause.kind, Kind::stranger);
  EXPECT_THAT(cause.text, HasSubstr("of cpu 1"));
  EXPECT_NEAR(cause.gain, 2, 0.2);
}

TEST(JuggleCauses, another_program_on_the_same_cpus_is_reported_even_if_threads_are_not_bound) {
  Patient patient(2);
  patient.cpus.add_program(kPhaseS, SimulatedWait::spin, Affinities(2));
  patient.cpus.add_stranger();
  EXPECT_EQ(patient.worst(), Kind::stranger);
}

TEST(JuggleCauses, reports_what_slows_the_program_even_while_its_threads_are_being_balanced) {
  Patient bound(2, JugglePolicy::automatic);
  bound.cpus.add_program(1, SimulatedWait::sleep, {{0}, {1}, {0}});
  EXPECT_EQ(bound.worst(), Kind::bound_unevenly);
  Patient beside(2, JugglePolicy::automatic);
  beside.cpus.add_program(kPhaseS, SimulatedWait::spin, Affinities(2));
  beside.cpus.add_stranger();
  EXPECT_EQ(beside.worst(), Kind::stranger);
}

TEST(JuggleCauses, a_thread_that_computes_only_at_the_start_does_not_make_the_others_spin) {
  JuggleFacts facts = good_facts();
  facts.threads = 5;
  facts.threads_s = 4 * 9.5 + 5 * 0.5;
  facts.waits_actively = true;
  EXPECT_EQ(causes_of(facts).front().kind, Kind::nothing);
}

TEST(JuggleCauses, reports_first_the_cause_whose_removal_gains_most) {
  JuggleFacts facts{.watched_s = 10, .threads = 8, .threads_s = 80, .cpus = {0, 1, 2, 3}};
  facts.waits_actively = true;
  facts.quota_cpus = 3;
  const auto causes = causes_of(facts);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].kind, Kind::spinning);
  EXPECT_EQ(causes[1].kind, Kind::quota);
}

// Tests that no cause of lost time is reported for programs without imbalance.

struct Healthy {
  const char* what;
  double phase_s;
  SimulatedWait wait;
  Affinities own;
  double quota_cpus = 100;
  bool waits_actively = false;
};

const Healthy kHealthy[] = {
    {"a thread per cpu, asleep at barriers", 0.001, SimulatedWait::sleep, Affinities(4)},
    {"a thread per cpu, long phases", 1, SimulatedWait::sleep, Affinities(4)},
    {"a thread per cpu, spinning", 0.0002, SimulatedWait::spin, Affinities(4), 100, true},
    {"fewer threads than cpus, spinning", 0.01, SimulatedWait::spin, Affinities(3), 100, true},
    {"one thread", 1, SimulatedWait::none, Affinities(1)},
    {"two threads per cpu, bound evenly",
     0.1,
     SimulatedWait::sleep,
     {{0}, {1}, {2}, {3}, {0}, {1}, {2}, {3}}},
    {"a thread per cpu, bound", 0.01, SimulatedWait::spin, {{0}, {1}, {2}, {3}}, 100, true},
    {"threads that never wait for each other", 1, SimulatedWait::none, Affinities(5)},
    {"more threads than cpus, asleep at barriers", 0.1, SimulatedWait::sleep, Affinities(6)},
    {"a quota above the threads", 0.01, SimulatedWait::sleep, Affinities(2), 2.5},
    {"threads bound to pairs of cpus",
     0.01,
     SimulatedWait::sleep,
     {{0, 1}, {0, 1}, {2, 3}, {2, 3}}},
};

TEST(JuggleCauses, no_cause_is_reported_for_programs_without_imbalance) {
  for (const auto& healthy : kHealthy) {
    SCOPED_TRACE(healthy.what);
    Patient patient(4);
    patient.cpus.add_program(healthy.phase_s, healthy.wait, healthy.own);
    JuggleFacts facts = patient.facts();
    facts.quota_cpus = healthy.quota_cpus;
    facts.waits_actively = healthy.waits_actively;
    const JuggleCause cause = causes_of(facts).front();
    EXPECT_EQ(cause.kind, Kind::nothing) << cause.text;
    EXPECT_FALSE(is_for_user(cause.kind));
  }
}

/// A test case: programs whose behaviour changes while they run on four cpus. `act` starts the
/// programs and runs them.
struct Changing {
  const char* what;
  std::function<void(SimulatedCpus&)> act;
};

/// Runs the cpus for 5 s, in turns of turn_s seconds each. In every turn, each program computes
/// from the fraction `from` of the turn to the fraction `until`, and sleeps otherwise.
struct Awake {
  int program = 0;
  double from = 0, until = 1;
};
void run_in_turns(SimulatedCpus& cpus, double turn_s, const std::vector<Awake>& programs) {
  std::vector<bool> is_awake(programs.size(), true);
  constexpr int kStepsPerTurn = 10;
  for (int step = 0; cpus.now_s < kRunS; ++step) {
    const double at = (step % kStepsPerTurn + 0.5) / kStepsPerTurn;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const bool wakes = programs[i].from <= at && at < programs[i].until;
      if (wakes != is_awake[i]) cpus.set_asleep(programs[i].program, !wakes);
      is_awake[i] = wakes;
    }
    cpus.run_until((step + 1) * turn_s / kStepsPerTurn);
  }
}

/// Starts a thread on each of `num_cpus` cpus. Each thread computes for life_s seconds and then
/// ends; a new thread is started in its place.
void run_short_threads(SimulatedCpus& cpus, std::uint32_t num_cpus, double life_s) {
  std::deque<int> running;
  for (int born = 0; cpus.now_s < kRunS; ++born) {
    running.push_back(cpus.add_program(1, SimulatedWait::none, Affinities(1)));
    cpus.run_until((born + 1) * life_s / num_cpus);
    if (running.size() < num_cpus) continue;
    cpus.end(running.front());
    running.pop_front();
  }
}

const Changing kChanging[] = {
    {"a serial part, then a thread per cpu",
     [](SimulatedCpus& cpus) {
       const int serial = cpus.add_program(1, SimulatedWait::none, Affinities(1));
       cpus.run_until(2);
       cpus.end(serial);
       cpus.add_program(0.01, SimulatedWait::sleep, Affinities(4));
       cpus.run_until(kRunS);
     }},
    {"serial and parallel phases in turn",
     [](SimulatedCpus& cpus) {
       const int serial = cpus.add_program(1, SimulatedWait::none, Affinities(1));
       const int parallel = cpus.add_program(0.002, SimulatedWait::sleep, Affinities(4));
       run_in_turns(cpus, 0.3, {{serial, 0, 0.4}, {parallel, 0.4, 1}});
     }},
    {"a pool that sleeps between bursts of work",
     [](SimulatedCpus& cpus) {
       const int pool = cpus.add_program(0.005, SimulatedWait::sleep, Affinities(4));
       run_in_turns(cpus, 0.5, {{pool, 0, 0.4}});
     }},
    {"a pool of twice as many threads as cpus that sleeps between bursts of work",
     [](SimulatedCpus& cpus) {
       const int pool = cpus.add_program(0.005, SimulatedWait::sleep, Affinities(8));
       run_in_turns(cpus, 0.5, {{pool, 0, 0.4}});
     }},
    {"a thread that mostly waits for input",
     [](SimulatedCpus& cpus) {
       const int reader = cpus.add_program(1, SimulatedWait::none, Affinities(1));
       run_in_turns(cpus, 0.01, {{reader, 0, 0.2}});
     }},
    {"six threads that wait for input, three awake at a time",
     [](SimulatedCpus& cpus) {
       std::vector<Awake> readers;
       for (int i = 0; i < 6; ++i)
         readers.push_back({cpus.add_program(1, SimulatedWait::none, Affinities(1)),
                            i < 3 ? 0 : 0.5, i < 3 ? 0.5 : 1});
       run_in_turns(cpus, 0.02, readers);
     }},
    {"a pipeline of two threads that take turns",
     [](SimulatedCpus& cpus) {
       const int first = cpus.add_program(1, SimulatedWait::none, Affinities(1));
       const int second = cpus.add_program(1, SimulatedWait::none, Affinities(1));
       run_in_turns(cpus, 0.04, {{first, 0, 0.5}, {second, 0.5, 1}});
     }},
    {"nested teams: two threads, each of which starts a team of two and waits for it",
     [](SimulatedCpus& cpus) {
       const int outer = cpus.add_program(1, SimulatedWait::none, Affinities(2));
       const int first = cpus.add_program(0.001, SimulatedWait::sleep, Affinities(2));
       const int second = cpus.add_program(0.001, SimulatedWait::sleep, Affinities(2));
       run_in_turns(cpus, 0.1, {{outer, 0, 0.2}, {first, 0.2, 1}, {second, 0.2, 1}});
     }},
    {"short threads on a free cpu, beside a long one",
     [](SimulatedCpus& cpus) {
       cpus.add_program(1, SimulatedWait::none, Affinities(1));
       run_short_threads(cpus, 2, 0.15);
     }},
    {"a parallel build: short processes on all cpus, and a long one",
     [](SimulatedCpus& cpus) {
       cpus.add_program(1, SimulatedWait::none, Affinities(1));
       run_short_threads(cpus, 4, 0.12);
     }},
};

TEST(JuggleCauses, no_cause_is_reported_if_a_program_without_problems_changes_its_behaviour) {
  POISE_SKIP_IF_SLOW();
  for (const JugglePolicy policy : {JugglePolicy::off, JugglePolicy::automatic})
    for (const double slice_s : {0.003, 0.01})
      for (const auto& [what, act] : kChanging) {
        SCOPED_TRACE(testing::Message() << what << ", " << name_of(policy) << ", " << slice_s);
        Patient patient(4, policy);
        patient.cpus.reports_late = true;
        patient.cpus.slice_s = slice_s;
        act(patient.cpus);
        const JuggleCause cause = causes_of(patient.facts(0)).front();
        EXPECT_THAT(cause.kind, testing::AnyOf(Kind::nothing, Kind::unknown)) << cause.text;
      }
}

TEST(JuggleCauses, the_cause_is_unknown_if_the_program_ran_too_briefly) {
  Patient patient(2);
  patient.cpus.add_program(0.1, SimulatedWait::sleep, {{0}, {0}});
  EXPECT_EQ(causes_of(patient.facts(0.2)).front().kind, Kind::unknown);
  EXPECT_EQ(causes_of({}).front().kind, Kind::unknown);
}

TEST(JuggleCauses, every_kind_of_cause_has_a_name) {
  EXPECT_STREQ(name_of(Kind::unknown), "unknown");
  EXPECT_STREQ(name_of(Kind::short_lived), "short_lived");
  EXPECT_STREQ(name_of(Kind::nothing), "nothing");
}

}  // namespace
}  // namespace poise
