// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/diagnose.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <set>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/diagnosis/planted_testing.h"

namespace poise {
namespace {

using planted::Cause;

constexpr Cause kAll[] = {Cause::none,     Cause::persistent, Cause::drifting, Cause::random,
                          Cause::mapping,  Cause::network,    Cause::binding,  Cause::odd_threads,
                          Cause::crowding, Cause::others,     Cause::quota};

// The number of profiles generated for each cause or pair of causes, and the share of them for
// which the first advice must be the right one.
constexpr std::uint64_t kProfiles = kSanitized ? 20 : 100;
constexpr double kMinRight = 0.95;

struct Tally {
  int right = 0;
  std::map<Remedy, int> wrong;
};

void tally(const std::vector<planted::Planted>& causes, std::uint64_t seed, Tally& tally) {
  const planted::Profile profile = planted::Generator(causes, seed).profile();
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  const Remedy first = diagnosis.advice.front().remedy;
  if (first == planted::remedy_of(causes[0].cause))
    ++tally.right;
  else
    ++tally.wrong[first];
}

std::string text(const Tally& tally) {
  std::string result;
  for (const auto& [remedy, times] : tally.wrong)
    result +=
        std::to_string(times) + " x remedy " + std::to_string(static_cast<int>(remedy)) + "; ";
  return result;
}

TEST(diagnose, recommends_the_right_remedy_if_a_generated_profile_has_one_cause_of_lost_time) {
  POISE_SKIP_IF_SLOW();
  for (const Cause cause : kAll) {
    Tally one;
    for (std::uint64_t seed = 1; seed <= kProfiles; ++seed) {
      Random random(seed * 77);
      tally({{cause, random.uniform(0.1, 0.6)}}, seed, one);
    }
    EXPECT_GE(one.right, kMinRight * kProfiles)
        << "cause " << static_cast<int>(cause) << ": " << text(one);
  }
}

double upper_end_s(const Advice& advice) { return advice.saved.value + advice.saved.half_width; }

/// Two phases of three ranks, each with 1.2 s of work, on two cores; ranks 0 and 2 share one.
planted::Profile three_ranks_on_two_cores(const std::vector<RankTimes>& ranks) {
  planted::Profile profile;
  profile.run.node_of_rank = {0, 0, 0};
  profile.trace.machine = machine_from_text("node:1 core:2");
  for (int p = 0; p < 2; ++p) {
    profile.run.phases.push_back({.name = "", .ranks = ranks});
    Phase& phase = profile.trace.phases.emplace_back();
    phase.workload.tasks.assign(3, {.load_s = 1.2});
    phase.placement = Placement({0, 1, 0});
  }
  return profile;
}

// A run of LAMMPS under Open MPI behaved like the run in this test: three ranks on two cores were
// not bound to cores, and poise juggle gained nothing.
TEST(diagnose, does_not_advise_poise_juggle_for_spinning_ranks_that_the_kernel_moves) {
  const RankTimes rank{.wall_s = 3, .useful_s = 1.8, .load_s = 1.2, .queued_s = 0.6};
  auto [run, trace] = three_ranks_on_two_cores({rank, rank, rank});
  EXPECT_EQ(diagnose(run, trace).advice.front().remedy, Remedy::juggle) << "they may be bound";
  run.is_free = {true, true, true};
  const Diagnosis diagnosis = diagnose(run, trace);
  EXPECT_EQ(diagnosis.advice.front().remedy, Remedy::fewer_ranks);
  EXPECT_NEAR(upper_end_s(diagnosis.advice.front()), 2 * 0.6 * (3 - 1.8), 1e-9);
  for (const Advice& advice : diagnosis.advice) EXPECT_NE(advice.remedy, Remedy::juggle);
  run.is_free[1] = false;
  EXPECT_EQ(diagnose(run, trace).advice.front().remedy, Remedy::juggle);
}

// In this profile it is unknown whether the kernel could move the ranks. A profile lacks this
// information if, for example, a rank died.
TEST(diagnose, does_not_advise_poise_juggle_if_the_cores_worked_all_the_time) {
  const RankTimes rank{.wall_s = 1.8, .useful_s = 1.8, .load_s = 1.2, .queued_s = 0.6};
  const auto [run, trace] = three_ranks_on_two_cores({rank, rank, rank});
  for (const Advice& advice : diagnose(run, trace).advice)
    EXPECT_EQ(advice.remedy, Remedy::nothing) << advice.saved.value;
}

TEST(diagnose, starting_fewer_ranks_saves_the_time_lost_by_spinning_in_mpi_if_ranks_share_a_core) {
  const RankTimes alone{.wall_s = 6, .useful_s = 1.2, .load_s = 1.2, .waited = {2.4, 0}};
  RankTimes shared{.wall_s = 6, .useful_s = 2.4, .load_s = 1.2, .queued_s = 1.2};
  const auto most_s = [&] {
    const auto profile = three_ranks_on_two_cores({shared, alone, shared});
    for (const Advice& advice : diagnose(profile.run, profile.trace).advice)
      if (advice.remedy == Remedy::fewer_ranks) return upper_end_s(advice);
    return 0.0;
  };
  EXPECT_EQ(most_s(), 0) << "they queue only while they compute";
  shared.queued_s = 1.2 + 0.9;  // 1.2 s while it computes, 0.9 s (a quarter of 3.6 s) in MPI
  EXPECT_NEAR(most_s(), 2 * 3.6 / 2, 1e-9);
  shared.queued_s = 1.2 + 1.8;
  EXPECT_NEAR(most_s(), 2 * 3.6, 1e-9);
}

TEST(diagnose, advises_no_other_mapping_if_ranks_compute_with_several_threads) {
  planted::Profile profile = planted::Generator({{Cause::mapping, 0.4}}, 1).profile();
  EXPECT_EQ(diagnose(profile.run, profile.trace).advice.front().remedy, Remedy::mapping);
  profile.run.teams = {{.rank = 0, .work_s = {1, 1}}};
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  for (const Advice& advice : diagnosis.advice) EXPECT_NE(advice.remedy, Remedy::mapping);
  EXPECT_TRUE(diagnosis.map.empty());
}

// The kernel may run two ranks on one core for a moment, although there is a core for each.
TEST(diagnose,
     the_advised_map_gives_each_rank_its_own_core_even_if_two_ranks_last_ran_on_one_core) {
  planted::Profile profile = planted::Generator({{Cause::mapping, 0.4}}, 1).profile();
  Placement& last = profile.trace.phases.back().placement;
  const Machine& machine = *profile.trace.machine;
  TaskId other = 1;
  while (machine.node_of_place(last.of(other)) != machine.node_of_place(last.of(0))) ++other;
  last.move(0, last.of(other));
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  ASSERT_EQ(diagnosis.map.size(), last.num_tasks());
  EXPECT_EQ(std::set<PlaceId>(diagnosis.map.begin(), diagnosis.map.end()).size(),
            diagnosis.map.size());
}

TEST(diagnose, finds_threads_bound_to_one_cpu_and_the_rank_with_the_most_unevenly_loaded_threads) {
  planted::Profile profile = planted::Generator({{Cause::none, 0.1}}, 1).profile();
  profile.run.teams = {{.rank = 0, .work_s = {1, 1}}, {.rank = 2, .work_s = {0.5, 1}}};
  profile.run.threads_of_node = {
      {.watched_s = 1, .threads = 2, .cpus = {4, 5}, .bound_on = {0, 2}},
      {},
      {.watched_s = 1, .threads = 2, .cpus = {4, 5}, .bound_on = {2, 0}}};
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  ASSERT_EQ(diagnosis.threads.size(), 2u);
  EXPECT_EQ(diagnosis.threads[0].node, 0u);
  EXPECT_EQ(diagnosis.threads[1].node, 2u);
  for (const ThreadCause& thread : diagnosis.threads)
    EXPECT_EQ(thread.cause.kind, JuggleCause::Kind::one_cpu);
  EXPECT_EQ(diagnosis.teams.rank, 2u);
  EXPECT_DOUBLE_EQ(diagnosis.teams.worst, 0.75);
  EXPECT_DOUBLE_EQ(diagnosis.teams.even, 0.875);
}

TEST(diagnose, the_cost_of_moving_memory_is_subtracted_from_the_gain_of_migratable_objects) {
  planted::Profile profile = planted::Generator({{Cause::drifting, 0.5}}, 3).profile();
  const auto saved = [&](const Diagnosis& diagnosis) {
    for (const Advice& advice : diagnosis.advice)
      if (advice.remedy == Remedy::objects) return advice.saved;
    ADD_FAILURE() << "there is no advice about objects";
    return Seconds();
  };
  const Diagnosis without = diagnose(profile.run, profile.trace);
  ASSERT_GT(without.imbalance.distributions, 1u);
  Workload& last = profile.trace.phases.back().workload;
  last.memory.assign(last.tasks.size(), {.footprint_bytes = 1000});
  const double byte_s = profile.trace.machine
                            ? profile.trace.machine->costs().seconds_per_migrated_byte
                            : CostModel{}.seconds_per_migrated_byte;
  const Seconds before = saved(without), after = saved(diagnose(profile.run, profile.trace));
  const double moving_s = without.imbalance.moved_share * 1000 * byte_s;
  EXPECT_NEAR(before.value - after.value, moving_s, 1e-12);
  EXPECT_NEAR(after.half_width - before.half_width, moving_s, 1e-12);
}

/// A run of ten phases of one second each on one node, with the given loads of its ranks in seconds
/// and the given number of cores.
planted::Profile run_on_node(const std::vector<double>& loads_s, const std::string& node) {
  planted::Profile profile;
  profile.trace.machine = machine_from_text(node);
  profile.trace.num_places = profile.trace.machine->num_places();
  profile.run.node_of_rank.assign(loads_s.size(), 0);
  std::vector<PlaceId> places;
  for (std::size_t r = 0; r < loads_s.size(); ++r) places.push_back(r % profile.trace.num_places);
  for (std::size_t p = 0; p < 10; ++p) {
    Phase& phase = profile.trace.phases.emplace_back();
    phase.placement = Placement(places);
    MeasuredPhase& measured = profile.run.phases.emplace_back();
    for (const double load_s : loads_s) {
      phase.workload.tasks.push_back({.load_s = load_s});
      measured.ranks.push_back(
          {.wall_s = 1, .useful_s = load_s, .load_s = load_s, .waited = {1 - load_s, 0}});
    }
  }
  return profile;
}

Advice advice_of(const planted::Profile& profile, Remedy remedy) {
  for (const Advice& advice : diagnose(profile.run, profile.trace).advice)
    if (advice.remedy == remedy) return advice;
  return {};
}

TEST(diagnose, the_promised_gain_is_the_time_that_a_persistent_imbalance_costs_in_the_whole_run) {
  const auto profile = run_on_node({0.9, 0.3}, "core:2");
  EXPECT_NEAR(advice_of(profile, Remedy::objects).saved.value, 10 * 0.3, 1e-9);
}

TEST(diagnose, the_promised_gain_is_less_certain_if_some_ranks_have_long_transfers) {
  auto profile = run_on_node({0.9, 0.3}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases) phase.ranks[1].waited = {0.3, 0};
  const Advice objects = advice_of(profile, Remedy::objects);
  EXPECT_NEAR(objects.saved.value, 10 * 0.3, 1e-9);
  EXPECT_NEAR(objects.saved.half_width, 10 * 0.1 / 2, 1e-9);
}

TEST(diagnose, the_promised_gain_is_at_most_the_waiting_time_plus_the_imbalance_of_transfer_times) {
  // The imbalance is 0.3 s. Ranks wait for 0.05 s on average; their transfers take 0.4 and 0.5 s.
  auto profile = run_on_node({0.9, 0.3}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases) {
    phase.ranks[0].wall_s = phase.ranks[1].wall_s = 1.3;
    phase.ranks[0].waited = {0, 0};
    phase.ranks[1].useful_s = 0.7;
    phase.ranks[1].waited = {0.1, 0};
  }
  const Advice objects = advice_of(profile, Remedy::objects);
  EXPECT_NEAR(objects.saved.value, 10 * (0.05 + 0.05), 1e-9);
  EXPECT_NEAR(objects.saved.half_width, 10 * 0.05 / 2, 1e-9);
}

TEST(diagnose, the_promised_gain_includes_polling_time_if_each_rank_polls_in_some_phases) {
  auto profile = run_on_node({0.9, 0.3}, "core:2");
  for (std::size_t p = 0; p < profile.run.phases.size(); ++p) {
    std::vector<RankTimes>& ranks = profile.run.phases[p].ranks;
    for (RankTimes& rank : ranks) rank.waited = {0, 0};  // ranks poll and never wait in MPI calls
    if (p >= 5) std::swap(ranks[0], ranks[1]);
  }
  // After each phase, work is redistributed according to the loads of that phase. The first phase
  // takes as long as before. The phase in which the loads are swapped takes 0.1 s longer, and each
  // of the other eight phases is 0.3 s shorter.
  const double saved_s = 8 * 0.3 - 0.1;
  const Advice objects = advice_of(profile, Remedy::objects);
  EXPECT_NEAR(objects.saved.value, saved_s, objects.saved.half_width);
  EXPECT_LT(objects.saved.half_width, 0.6 * saved_s);
}

/// A run of two ranks that compute for 0.1 s of each second and share one of two cores. In MPI,
/// each rank waits for the core for `queued_s` of each second.
planted::Profile run_on_one_core(double queued_s) {
  auto profile = run_on_node({0.1, 0.1}, "core:2");
  for (std::size_t p = 0; p < profile.run.phases.size(); ++p) {
    profile.trace.phases[p].placement = Placement(std::vector<PlaceId>{0, 0});
    for (RankTimes& rank : profile.run.phases[p].ranks) {
      rank.useful_s = 0.2;  // both compute at the same time, each at half speed
      rank.queued_s = 0.1 + queued_s;
      rank.waited = {0, 0};
    }
  }
  return profile;
}

TEST(diagnose, recommends_binding_if_ranks_share_a_core_although_another_core_is_idle) {
  // While both ranks compute, each queues for 0.1 s. In the other 0.8 s both ranks spin, so each
  // queues for half of these 0.8 s. On cores of their own, the ranks would not queue.
  const auto spinning = run_on_one_core(0.4);
  EXPECT_EQ(diagnose(spinning.run, spinning.trace).advice.front().remedy, Remedy::binding);
  EXPECT_NEAR(advice_of(spinning, Remedy::binding).saved.value, 10 * (0.1 + 0.8), 1e-9);
  // While ranks sleep in MPI, they do not delay each other.
  EXPECT_NEAR(advice_of(run_on_one_core(0), Remedy::binding).saved.value, 10 * 0.1, 1e-9);
}

TEST(diagnose, binding_may_help_if_ranks_change_cores_in_at_least_a_tenth_of_the_phases) {
  for (const std::size_t changes : {0, 1, 9}) {
    auto profile = run_on_one_core(0);
    // Each rank has a core of its own. The ranks swap cores before each of the phases 1 to
    // `changes`.
    for (std::size_t p = 0; p < 10; ++p) {
      const PlaceId first = std::min(p, changes) % 2;
      profile.trace.phases[p].placement = Placement(std::vector<PlaceId>{first, 1 - first});
    }
    EXPECT_NEAR(advice_of(profile, Remedy::binding).saved.value, changes > 0 ? 10 * 0.1 : 0, 1e-9)
        << changes;
  }
}

TEST(diagnose, does_not_advise_binding_ranks_to_one_core_if_they_compute_with_several_threads) {
  auto profile = run_on_one_core(0.4);
  profile.run.teams = {{.rank = 0, .work_s = {1, 1}}, {.rank = 1, .work_s = {1, 1}}};
  for (const Advice& advice : diagnose(profile.run, profile.trace).advice)
    EXPECT_NE(advice.remedy, Remedy::binding);
}

TEST(diagnose, advises_neither_mapping_nor_binding_if_the_number_of_threads_is_unknown) {
  planted::Profile mapped = planted::Generator({{Cause::mapping, 0.4}}, 1).profile();
  for (planted::Profile profile : {mapped, run_on_one_core(0.4)}) {
    profile.run.knows_threads = false;
    const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
    EXPECT_TRUE(diagnosis.map.empty());
    for (const Advice& advice : diagnosis.advice) {
      EXPECT_NE(advice.remedy, Remedy::mapping);
      EXPECT_NE(advice.remedy, Remedy::binding);
    }
  }
}

/// A run of two ranks on two cores. In each second, each rank is outside MPI for 0.2 s: it computes
/// for 0.1 s and queues for 0.1 s. It queues for another 0.1 s inside MPI. In the same second,
/// another program uses the cores for 0.4 s in all.
planted::Profile run_beside_another_program() {
  auto profile = run_on_node({0.1, 0.1}, "core:2");
  for (std::size_t p = 0; p < profile.run.phases.size(); ++p) {
    if (p % 2 == 1) profile.trace.phases[p].placement = Placement(std::vector<PlaceId>{1, 0});
    for (RankTimes& rank : profile.run.phases[p].ranks) {
      rank.useful_s = 0.2;
      rank.queued_s = 0.2;
      rank.waited = {0, 0};
    }
  }
  profile.run.others_s = {10 * 0.4};
  return profile;
}

TEST(diagnose, recommends_keeping_other_programs_off_the_cores_instead_of_binding_ranks) {
  auto profile = run_beside_another_program();
  // In each second, the predicted loss is 0.35 s: 0.2 s inside MPI, and outside the mean of 0.1 s
  // and 0.2 s. The lower end of the interval is 0.2 s in total, because both ranks may always queue
  // at the same time.
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  ASSERT_EQ(diagnosis.advice.front().remedy, Remedy::exclusive);
  EXPECT_NEAR(diagnosis.advice.front().saved.value, 10 * 0.35, 1e-9);
  EXPECT_NEAR(diagnosis.advice.front().saved.half_width, 10 * 0.15, 1e-9);
  for (const Advice& advice : diagnosis.advice) EXPECT_NE(advice.remedy, Remedy::binding);
  // The other program explains a quarter of the queued time: binding may save the other three
  // quarters.
  profile.run.others_s = {10 * 0.1};
  EXPECT_NEAR(advice_of(profile, Remedy::exclusive).saved.value, 10 * 0.35 / 4, 1e-9);
  EXPECT_NEAR(advice_of(profile, Remedy::binding).saved.value, 10 * 0.1 * 3 / 4, 1e-9);
  profile.run.others_s = {};
  EXPECT_EQ(diagnose(profile.run, profile.trace).advice.front().remedy, Remedy::binding);
}

TEST(diagnose,
     keeping_others_off_a_node_with_more_ranks_than_cores_saves_their_share_of_the_cores) {
  // In each second, another program uses the two cores for 0.5 s in all. The four ranks share the
  // other 1.5 s and always compute. Without the program, their work takes 1.5 s / 2 cores.
  auto profile = run_on_node({0.375, 0.375, 0.375, 0.375}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    for (RankTimes& rank : phase.ranks) rank.useful_s = 1, rank.queued_s = 0.625;
  profile.run.others_s = {10 * 0.5};
  const Advice advice = advice_of(profile, Remedy::exclusive);
  EXPECT_NEAR(advice.saved.value, 10 * 0.25, 1e-9);
  EXPECT_NEAR(advice.saved.half_width, 0, 1e-9);
}

TEST(diagnose, without_the_time_of_other_programs_binding_and_fewer_ranks_may_save_nothing) {
  auto binding = run_on_one_core(0.4);
  binding.run.knows_others = false;
  const Seconds saved = advice_of(binding, Remedy::binding).saved;
  EXPECT_NEAR(saved.value, 10 * (0.1 + 0.8) / 2, 1e-9);
  EXPECT_EQ(saved.half_width, saved.value);
  auto crowded = run_on_node({0.1, 0.1}, "core:1");
  for (MeasuredPhase& phase : crowded.run.phases)
    for (RankTimes& rank : phase.ranks) rank.queued_s = 0.4;
  const Seconds known = advice_of(crowded, Remedy::fewer_ranks).saved;
  EXPECT_GT(known.value, known.half_width);
  crowded.run.knows_others = false;
  const Seconds unknown = advice_of(crowded, Remedy::fewer_ranks).saved;
  EXPECT_NEAR(unknown.value + unknown.half_width, known.value + known.half_width, 1e-9);
  EXPECT_EQ(unknown.half_width, unknown.value);
}

TEST(diagnose, queueing_behind_other_programs_while_waiting_for_a_late_rank_costs_nothing) {
  // In each second each rank is outside MPI for 0.5 s without queueing. Then it polls MPI, on a
  // core that it shares with another program, so it queues for half of the time.
  auto profile = run_on_node({0.5, 0.5}, "core:2");
  const auto set = [&](double waited_s) {
    for (MeasuredPhase& phase : profile.run.phases)
      for (RankTimes& rank : phase.ranks) rank.queued_s = 0.25, rank.waited = {waited_s, 0};
  };
  profile.run.others_s = {10 * 0.5};
  set(0.45);  // transfers take 0.05 s, of which 0.025 to 0.05 s are queueing
  const Advice small = advice_of(profile, Remedy::exclusive);
  EXPECT_NEAR(small.saved.value, 10 * 0.1, 1e-9);
  EXPECT_NEAR(small.saved.half_width, 10 * (0.1 - 0.025), 1e-9);
  set(0.1);  // transfers take 0.4 s, so all 0.25 s of queueing may delay them
  const Advice large = advice_of(profile, Remedy::exclusive);
  EXPECT_NEAR(large.saved.value, 10 * 0.5, 1e-9);
  EXPECT_NEAR(large.saved.half_width, 10 * (0.5 - 0.2), 1e-9);
  profile.run.knows_waiting = false;  // ranks in MPI may have waited all the time, or never
  const Advice unknown = advice_of(profile, Remedy::exclusive);
  EXPECT_NEAR(unknown.saved.value, 10 * 0.25, 1e-9);
  EXPECT_NEAR(unknown.saved.half_width, 10 * 0.25, 1e-9);
}

/// A run of two ranks on two cores. In each second each rank computes for 0.3 s, and the kernel
/// stops rank 0 for 0.4 s and rank 1 for 0.3 s. For each rank, 0.1 s of the stopped time is outside
/// MPI.
planted::Profile run_with_quota() {
  auto profile = run_on_node({0.3, 0.3}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    for (std::size_t r = 0; r < 2; ++r) {
      phase.ranks[r].useful_s = 0.4;
      phase.ranks[r].queued_s = r == 0 ? 0.4 : 0.3;
      phase.ranks[r].waited = {0, 0};
    }
  profile.run.quotas = {{.cpus = 1, .stopped_s = 10 * 0.7}};
  return profile;
}

TEST(diagnose, recommends_a_larger_quota_if_the_kernel_stopped_ranks_because_of_the_quota) {
  auto profile = run_with_quota();
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  EXPECT_EQ(diagnosis.quota_cpus, 1);
  ASSERT_EQ(diagnosis.advice.front().remedy, Remedy::quota);
  // Both ranks are stopped at about the same time, so in each second the run loses the 0.4 s for
  // which rank 0 is stopped.
  EXPECT_NEAR(diagnosis.advice.front().saved.value, 10 * 0.4, 1e-9);
  EXPECT_NEAR(diagnosis.advice.front().saved.half_width, 10 * 0.05, 1e-9);
  for (const Advice& advice : diagnosis.advice) EXPECT_NE(advice.remedy, Remedy::binding);
  // The time for which ranks queued is attributed to the quota first, and only the rest to other
  // programs. Here the quota explains all of it.
  profile.run.others_s = {10 * 0.35};
  for (const Advice& advice : diagnose(profile.run, profile.trace).advice)
    EXPECT_NE(advice.remedy, Remedy::exclusive);
  profile.run.quotas[0].stopped_s = 10 * 0.35;  // each explains half
  EXPECT_NEAR(advice_of(profile, Remedy::quota).saved.value, 10 * 0.175, 1e-9);
  EXPECT_GT(advice_of(profile, Remedy::exclusive).saved.value, 10 * 0.1);
  profile.run.quotas = {};
  EXPECT_EQ(diagnose(profile.run, profile.trace).quota_cpus, 0);
}

TEST(diagnose, the_gain_of_exclusive_nodes_or_a_larger_quota_does_not_shrink_if_ranks_share_cores) {
  auto profile = run_on_node({0.1, 0.1, 0.1, 0.1}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    for (RankTimes& rank : phase.ranks) rank.useful_s = rank.queued_s = 0.2, rank.waited = {};
  // The predicted loss per second is 0.4 s inside MPI, and 0.1 to 0.4 s outside. The lower end of
  // the interval is 0.2 s in total, because all ranks may always queue at the same time.
  profile.run.others_s = {10 * 0.8};
  const Advice first = diagnose(profile.run, profile.trace).advice.front();
  ASSERT_EQ(first.remedy, Remedy::exclusive);
  EXPECT_NEAR(first.saved.value, 10 * 0.65, 1e-9);
  EXPECT_NEAR(first.saved.half_width, 10 * 0.45, 1e-9);
  profile.run.others_s = {};
  profile.run.quotas = {{.cpus = 1, .stopped_s = 10 * 0.8}};
  EXPECT_NEAR(advice_of(profile, Remedy::quota).saved.value, 10 * 0.2, 1e-9);
  EXPECT_NEAR(advice_of(profile, Remedy::quota).saved.half_width, 0, 1e-9);
}

TEST(diagnose, advises_exclusive_nodes_and_promises_at_most_the_idle_time_of_the_shared_cores) {
  auto profile = run_on_node({0.35, 0.35, 0.35, 0.35}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    for (RankTimes& rank : phase.ranks) rank.useful_s = 0.45, rank.queued_s = 0.2, rank.waited = {};
  // In each second the cores have no work for 0.3 s, which limits the prediction: without this
  // limit, the predicted loss would be larger. The lower end of the interval is 0.075 s outside MPI
  // plus 0.075 s inside.
  profile.run.others_s = {10 * 0.3};
  const Advice first = diagnose(profile.run, profile.trace).advice.front();
  ASSERT_EQ(first.remedy, Remedy::exclusive);
  EXPECT_NEAR(first.saved.value, 10 * 0.3, 1e-9);
  EXPECT_NEAR(first.saved.half_width, 10 * 0.15, 1e-9);
}

TEST(diagnose, refuses_cpu_times_and_quotas_that_are_negative_or_for_the_wrong_number_of_nodes) {
  auto profile = run_beside_another_program();
  profile.run.others_s = {1, 2};
  EXPECT_THROW(diagnose(profile.run, profile.trace), Error);
  profile.run.others_s = {-1};
  EXPECT_THROW(diagnose(profile.run, profile.trace), Error);
  profile = run_with_quota();
  profile.run.quotas.push_back({});
  EXPECT_THROW(diagnose(profile.run, profile.trace), Error);
  profile.run.quotas = {{.cpus = -1}};
  EXPECT_THROW(diagnose(profile.run, profile.trace), Error);
}

TEST(diagnose, starting_fewer_ranks_saves_at_most_the_time_in_which_bound_ranks_do_not_compute) {
  // Ranks 0 and 2 share a core and compute in turn, for 0.45 s each. All ranks spin while they
  // wait. On two ranks the work of 1.35 s takes 0.675 s.
  auto profile = run_on_node({0.45, 0.45, 0.45}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    phase.ranks[0].queued_s = phase.ranks[2].queued_s = 0.5;
  const Advice advice = advice_of(profile, Remedy::fewer_ranks);
  EXPECT_NEAR(upper_end_s(advice), 10 * (1 - 0.675), 1e-9);
  EXPECT_NEAR(advice.saved.value - advice.saved.half_width, 10 * (1 - 0.675) / 2, 1e-9);
}

TEST(diagnose, starting_fewer_ranks_does_not_save_the_time_in_which_other_programs_use_the_cores) {
  // In each second the four ranks work for 1 s in all, other programs use the cores for 0.8 s, and
  // the ranks spin for the remaining 0.2 s of the two cores.
  auto profile = run_on_node({0.25, 0.25, 0.25, 0.25}, "core:2");
  for (MeasuredPhase& phase : profile.run.phases)
    for (RankTimes& rank : phase.ranks) rank.useful_s = 0.6, rank.queued_s = 0.7;
  profile.run.others_s = {10 * 0.8};
  EXPECT_LE(upper_end_s(advice_of(profile, Remedy::fewer_ranks)), 10 * 0.1 + 1e-9) << "bound";
  profile.run.is_free.assign(4, true);
  EXPECT_NEAR(upper_end_s(advice_of(profile, Remedy::fewer_ranks)), 10 * 0.1, 1e-9);
}

TEST(diagnose, balancing_ranks_that_share_cores_saves_at_most_the_idle_time_of_these_cores) {
  // In each second the four ranks work for 1, 0.1, 0 and 0 s, so the imbalance is 0.725 s. But each
  // of their two cores is idle for only 0.45 s on average.
  const auto profile = run_on_node({1, 0.1, 0, 0}, "core:2");
  const Advice objects = advice_of(profile, Remedy::objects);
  EXPECT_NEAR(objects.saved.value, 10 * 0.45 / 2, 1e-9);
  EXPECT_NEAR(objects.saved.half_width, 10 * 0.45 / 2, 1e-9);
  const Advice crowded = advice_of(profile, Remedy::lending);
  EXPECT_NEAR(crowded.saved.value, 10 * 0.45, 1e-9);
  EXPECT_TRUE(crowded.is_bound);
}

TEST(diagnose, lending_saves_most_of_the_time_lost_by_imbalance_if_each_rank_has_its_own_core) {
  // The mean load is 0.275 s, and the imbalance is 0.725 s. Infinitely small tasks would save all
  // of it; real tasks save less, by at most the time of three tasks.
  const Advice lending = advice_of(run_on_node({1, 0.1, 0, 0}, "core:4"), Remedy::lending);
  EXPECT_FALSE(lending.is_bound);
  EXPECT_LE(lending.saved.value, 10 * 0.725);
  EXPECT_GE(upper_end_s(lending), 10 * (0.725 - 3 * 0.275 / 32));
  EXPECT_GE(lending.saved.value - lending.saved.half_width, 10 * (0.725 - 3 * 0.275 / 4));
}

/// True if the causes `a` and `b` can occur in the same run, and their remedies differ.
bool fit(Cause a, Cause b) {
  const auto crowds = [](Cause c) {
    return c == Cause::binding || c == Cause::odd_threads || c == Cause::crowding;
  };
  if (a == Cause::none || b == Cause::none || a == b) return false;
  if (planted::remedy_of(a) == planted::remedy_of(b)) return false;
  if (crowds(a) && crowds(b)) return false;
  // The following causes are tested only as the costlier cause `a`. They cannot be the less costly
  // cause `b`: the remedy for odd_threads, balancing threads, also evens out other imbalance inside
  // a node; and the time lost by crowding does not vary at random.
  if (b == Cause::odd_threads || b == Cause::crowding) return false;
  // If ranks share cores, no mapping gives each rank a place of its own.
  return !(crowds(a) && b == Cause::mapping) && !(crowds(b) && a == Cause::mapping);
}

const std::map<std::string, Cause> kCostly = {{"persistent", Cause::persistent},
                                              {"drifting", Cause::drifting},
                                              {"random", Cause::random},
                                              {"mapping", Cause::mapping},
                                              {"binding", Cause::binding},
                                              {"odd_threads", Cause::odd_threads},
                                              {"crowding", Cause::crowding},
                                              {"others", Cause::others},
                                              {"quota", Cause::quota}};

/// Generates profiles with two causes of lost time each: `large` and, in turn, each of the causes
/// in the list `small`. Expects that the diagnosis first recommends the remedy of `large`.
void expect_remedy_of(Cause large, const std::vector<Cause>& small) {
  Tally both;
  for (std::uint64_t seed = 1; seed <= kProfiles; ++seed) {
    Random random(seed * 91);
    const double share = random.uniform(0.3, 0.6);
    tally({{large, share}, {small[seed % small.size()], share / random.uniform(2.5, 5)}}, seed,
          both);
  }
  EXPECT_GE(both.right, kMinRight * kProfiles)
      << "the first smaller cause is " << static_cast<int>(small[0]) << ": " << text(both);
}

class TwoCauses : public testing::TestWithParam<std::string> {};

TEST_P(TwoCauses, the_remedy_of_the_more_costly_cause_is_recommended) {
  POISE_SKIP_IF_SLOW();
  const Cause large = kCostly.at(GetParam());
  std::vector<Cause> small;
  std::ranges::copy_if(kAll, std::back_inserter(small), [&](Cause c) { return fit(large, c); });
  ASSERT_FALSE(small.empty());
  expect_remedy_of(large, small);
  if (num_seeds(0) > 0)  // POISE_SEEDS is set, as in `./dev test full`
    for (const Cause cause : small) expect_remedy_of(large, {cause});
}

INSTANTIATE_TEST_SUITE_P(diagnose, TwoCauses,
                         testing::Values("persistent", "drifting", "random", "mapping", "binding",
                                         "odd_threads", "crowding", "others", "quota"),
                         [](const auto& cause) { return cause.param; });

TEST(diagnose, names_the_ranks_for_which_others_waited) {
  MeasuredRun run{.node_of_rank = {0, 0, 0}};
  MeasuredPhase& phase = run.phases.emplace_back();
  phase.ranks = {
      {.wall_s = 3, .useful_s = 1, .load_s = 1, .waited = {2, 0}, .waited_for = {{1, 2}}},
      {.wall_s = 3, .useful_s = 3, .load_s = 3},
      {.wall_s = 3,
       .useful_s = 2,
       .load_s = 2,
       .waited = {1, 0},
       .waited_for = {{1, .75}, {0, .25}}}};
  Trace trace;
  trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1, 2});
  const Diagnosis diagnosis = diagnose(run, trace);
  ASSERT_EQ(diagnosis.late.size(), 2u);
  EXPECT_EQ(diagnosis.late[0].rank, 1u);
  EXPECT_EQ(diagnosis.late[0].num_waiting, 2u);
  EXPECT_DOUBLE_EQ(diagnosis.late[0].seconds, 2.75);
  EXPECT_EQ(diagnosis.late[1].rank, 0u);
  EXPECT_EQ(diagnosis.late[1].num_waiting, 1u);
  EXPECT_DOUBLE_EQ(diagnosis.late[1].seconds, 0.25);
  run.node_of_rank.pop_back();
  EXPECT_THROW(diagnose(run, trace), Error);
}

TEST(diagnose, reports_separate_efficiencies_for_each_phase_name) {
  auto profile = run_on_node({0.9, 0.3}, "core:2");
  for (std::size_t p = 0; p < 10; ++p) {
    MeasuredPhase& phase = profile.run.phases[p];
    phase.name = std::vector{"solve", "", "send", "send", "solve"}[p % 5];
    if (phase.name == "send") phase.ranks[0].useful_s = 0.5;
  }
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  ASSERT_EQ(diagnosis.named.size(), 2u);
  EXPECT_EQ(diagnosis.named[0].first, "solve");
  EXPECT_EQ(diagnosis.named[1].first, "send");
  EXPECT_DOUBLE_EQ(diagnosis.named[0].second.run_s, 4);
  EXPECT_DOUBLE_EQ(diagnosis.named[0].second.parallel, 0.6);
  EXPECT_DOUBLE_EQ(diagnosis.named[1].second.parallel, 0.4);
  EXPECT_DOUBLE_EQ(diagnosis.whole.run_s, 10);
}

TEST(diagnose, reports_the_smallest_quota_and_the_numbers_of_ranks_and_cores_of_the_fullest_node) {
  planted::Profile profile;
  profile.trace.machine = machine_from_text("node:4 core:2");
  profile.run.node_of_rank = {0, 0, 1, 2, 2, 2, 3};
  profile.run.quotas = {{.cpus = 2}, {}, {.cpus = 1.5}, {.cpus = 3}};
  profile.run.phases.emplace_back().ranks.assign(7, {.wall_s = 1, .useful_s = 1, .load_s = 1});
  Phase& phase = profile.trace.phases.emplace_back();
  phase.workload.tasks.resize(7);
  phase.placement = Placement(std::vector<PlaceId>{0, 1, 2, 4, 5, 4, 7});
  const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
  EXPECT_EQ(diagnosis.quota_cpus, 1.5);
  EXPECT_EQ(diagnosis.ranks_per_node, 3u);
  EXPECT_EQ(diagnosis.cores_per_node, 2u);
}

TEST(diagnose, of_several_ranks_with_equally_uneven_threads_the_first_rank_is_named) {
  planted::Profile profile = planted::Generator({{Cause::none, 0.1}}, 1).profile();
  profile.run.teams = {{.rank = 1, .work_s = {0, 0}},
                       {.rank = 2, .work_s = {0.2, 1}},
                       {.rank = 3, .work_s = {1, 1, 1}},
                       {.rank = 4, .work_s = {5, 1}}};
  const TeamBalance balance = diagnose(profile.run, profile.trace).teams;
  EXPECT_EQ(balance.ranks, 4u);
  EXPECT_EQ(balance.rank, 2u);
  EXPECT_DOUBLE_EQ(balance.worst, 0.6);
  EXPECT_DOUBLE_EQ(balance.even, (1 + 0.6 + 1 + 0.6) / 4);
  profile.run.teams = {};
  EXPECT_EQ(diagnose(profile.run, profile.trace).teams.even, 1);
}

TEST(diagnose,
     refuses_a_trace_of_another_run_and_states_the_numbers_of_ranks_and_phases_of_both_runs) {
  auto profile = run_on_node({0.9, 0.3}, "core:2");
  const auto error = [&] {
    try {
      diagnose(profile.run, profile.trace);
    } catch (const Error& thrown) {
      return std::string(thrown.what());
    }
    return std::string();
  };
  const std::string own = "the profile has 2 ranks and 10 phases, but the trace has ";
  profile.trace.phases.pop_back();
  EXPECT_TRUE(error().starts_with(own + "2 ranks and 9 phases;")) << error();
  profile.trace.phases.clear();
  EXPECT_TRUE(error().starts_with(own + "0 ranks and 0 phases;")) << error();
  profile = run_on_node({0.9, 0.3}, "core:2");
  profile.trace.phases[0].placement = Placement(TaskId{3});
  EXPECT_TRUE(error().starts_with(own + "3 ranks and 10 phases;")) << error();
}

/// Profiles have one or two causes of lost time. No advice may save more than the time in which
/// cores are idle.
TEST(diagnose, the_promised_gain_never_exceeds_the_time_lost) {
  for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(200); ++seed) {
    Random random(seed);
    const auto any = [&] { return kAll[random.below(std::size(kAll))]; };
    std::vector<planted::Planted> causes{{any(), random.uniform(0.05, 1)}};
    const Cause second = any();
    if (fit(causes[0].cause, second)) causes.push_back({second, random.uniform(0.05, 1)});
    const planted::Profile profile = planted::Generator(causes, seed).profile();
    const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
    double worked_s = 0;
    for (const MeasuredPhase& phase : profile.run.phases)
      for (const RankTimes& rank : phase.ranks) worked_s += rank.load_s;
    const double cores = std::min<double>(profile.run.num_ranks(), profile.trace.num_places);
    for (const Advice& advice : diagnosis.advice) {
      EXPECT_GE(advice.saved.value, 0) << "seed " << seed;
      EXPECT_LE(advice.saved.value, diagnosis.whole.run_s - worked_s / cores + 1e-9)
          << "seed " << seed << ", remedy " << static_cast<int>(advice.remedy);
    }
  }
}

}  // namespace
}  // namespace poise
