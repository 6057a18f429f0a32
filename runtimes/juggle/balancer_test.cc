// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/balancer.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

#include "runtimes/juggle/simulated_kernel.h"

#include "poise/base/clock.h"

namespace poise::juggle {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Runs the balancer with a simulated kernel, in simulated time. The program is one process with
/// three busy threads.
class BalancerTest : public testing::Test {
 protected:
  BalancerTest() {
    options.settings.policy = JugglePolicy::proactive;
    options.progress = ProgressSource::time;
    options.on_note = [this](std::string_view note) { notes.emplace_back(note); };
    for (pid_t id = 100; id < 103; ++id) kernel.start(100, id, kCpus);
  }

  void run(Balancer& balancer, double seconds) {
    for (const double end_s = kernel.time_s + seconds; kernel.time_s < end_s;) {
      balancer.round();
      kernel.compute(balancer.next_s());
    }
  }
  /// Number of threads whose affinity is a single cpu.
  std::size_t num_kept() const {
    std::size_t count = 0;
    for (const auto& [id, thread] : kernel.threads_by_id) count += thread.affinity.size() == 1;
    return count;
  }

  const Cpus kCpus = {0, 1};
  SimulatedKernel kernel{kCpus};
  SimulatedStore store;
  BalancerOptions options;
  std::vector<std::string> notes;
};

TEST_F(BalancerTest, pins_busy_threads_and_equalises_their_progress) {
  Balancer balancer(options, store, kernel);
  run(balancer, 10);
  EXPECT_EQ(num_kept(), 3u);
  const Tally tally = balancer.finish();
  ASSERT_THAT(tally.threads, SizeIs(3));
  for (const ThreadTally& thread : tally.threads) EXPECT_NEAR(thread.run_s, 6.6, 0.4);
  EXPECT_GT(tally.migrations, 30u);
}

TEST_F(BalancerTest, counts_the_run_time_of_a_thread_before_and_after_a_long_sleep) {
  Balancer balancer(options, store, kernel);
  const auto sleep = [&](double share) {
    for (auto& [id, thread] : kernel.threads_by_id) thread.asleep = share;
  };
  run(balancer, 3);
  sleep(1);
  run(balancer, 30);
  sleep(0);
  run(balancer, 3);
  const Tally tally = balancer.finish();
  for (const ThreadTally& thread : tally.threads) EXPECT_NEAR(thread.run_s, 2 * 2, 0.4);
  EXPECT_NEAR(tally.program_run_s, 2 * 6, 1);
}

TEST_F(BalancerTest, even_with_a_long_period_at_most_one_second_of_run_time_is_missed) {
  options.settings.period_s = 60;
  Balancer balancer(options, store, kernel);
  run(balancer, 6);
  EXPECT_LT(kernel.time_s, 8);
  EXPECT_GT(balancer.finish().program_run_s, 2 * 4.5);
}

TEST_F(BalancerTest, cpu_time_before_the_balancer_starts_does_not_count_as_a_cost_of_balancing) {
  const double before_s = process_cpu_now_s();
  Balancer balancer(options, store, kernel);
  const Tally tally = balancer.finish();
  EXPECT_LE(tally.own_cpu_s, process_cpu_now_s() - before_s);
}

TEST_F(BalancerTest, restores_the_affinity_of_every_thread_at_the_end) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  balancer.finish();
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, kCpus);
  EXPECT_EQ(store.size(), 0u);
}

TEST_F(BalancerTest,
       restores_the_affinity_of_a_daemon_that_the_program_starts_just_before_its_end) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  kernel.start(200, 200, kernel.on(101), 1);
  for (pid_t id = 100; id < 103; ++id) kernel.end(id);
  balancer.finish();
  EXPECT_EQ(kernel.on(200), kCpus);
}

TEST_F(BalancerTest,
       a_process_that_a_pinned_thread_starts_is_unpinned_at_the_next_balancing_point) {
  Balancer balancer(options, store, kernel);
  run(balancer, 60);  // from now on, processes are looked for only once per second
  for (pid_t id = 200; id < 205; ++id) {
    kernel.start(id, id, kernel.on(101), 100);
    balancer.round();
    EXPECT_EQ(kernel.on(id), kCpus);
    kernel.compute(balancer.next_s());
  }
}

TEST_F(BalancerTest, pins_all_threads_again_after_the_guard_process_has_restored_their_affinities) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  for (auto& [id, thread] : kernel.threads_by_id) thread.affinity = kCpus;
  balancer.start_anew();
  run(balancer, 0.3);
  EXPECT_EQ(num_kept(), 3u);
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(BalancerTest, uses_fewer_cpus_while_some_are_offline_and_all_again_once_they_are_back) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  kernel.allowed = {1};
  for (auto& [id, thread] : kernel.threads_by_id) thread.affinity = {1};
  run(balancer, 0.3);
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, Cpus{1});
  kernel.allowed = kCpus;
  run(balancer, 0.3);
  Cpus used;
  for (const auto& [id, thread] : kernel.threads_by_id) used.push_back(thread.affinity.front());
  EXPECT_THAT(used, testing::Contains(0u));
}

TEST_F(BalancerTest, does_not_move_a_thread_that_the_program_has_bound) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  Cpus& own = kernel.threads_by_id.at(101).affinity;
  own = {own.front() == 0 ? 1u : 0u};
  const Cpus chosen = own;
  run(balancer, 5);
  EXPECT_EQ(kernel.on(101), chosen);
  EXPECT_THAT(notes, SizeIs(1));
}

TEST_F(BalancerTest, a_thread_that_the_program_binds_just_before_the_end_keeps_its_cpu) {
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  Cpus& own = kernel.threads_by_id.at(101).affinity;
  own = {own.front() == 0 ? 1u : 0u};
  const Cpus chosen = own;
  balancer.finish();
  EXPECT_EQ(kernel.on(101), chosen);
}

/// Binds the three threads to the two cpus, so that two threads share a cpu, as OMP_PROC_BIND=true
/// does. Each thread sleeps at barriers for part of the time.
void bind_unevenly(SimulatedKernel& kernel) {
  for (auto& [id, thread] : kernel.threads_by_id) {
    thread.affinity = {static_cast<CpuId>(id % 2)};
    thread.asleep = 0.3;
  }
}

TEST_F(BalancerTest, lets_unevenly_bound_threads_use_all_cpus_if_barriers_are_frequent) {
  options.settings.policy = JugglePolicy::automatic;
  bind_unevenly(kernel);
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, kCpus);
  kernel.start(100, 103, kCpus);  // inherits kCpus from a thread that the balancer unbound
  run(balancer, 0.2);
  EXPECT_THAT(kernel.on(103), SizeIs(1));
  const Tally tally = balancer.finish();
  for (pid_t id = 100; id < 103; ++id) EXPECT_EQ(kernel.on(id), Cpus{static_cast<CpuId>(id % 2)});
  EXPECT_EQ(tally.migrations, 0u);
  EXPECT_EQ(store.size(), 0u);
}

TEST_F(BalancerTest, does_not_move_a_thread_that_the_program_binds_after_the_balancer_unbound_it) {
  options.settings.policy = JugglePolicy::automatic;
  bind_unevenly(kernel);
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  kernel.threads_by_id.at(101).affinity = {0};
  run(balancer, 2);
  EXPECT_EQ(kernel.on(101), Cpus{0});
  EXPECT_THAT(notes, SizeIs(1));
}

TEST_F(BalancerTest, reports_uneven_binding_but_moves_no_thread_if_balancing_is_off) {
  options.settings.policy = JugglePolicy::off;
  bind_unevenly(kernel);
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  EXPECT_EQ(store.size(), 0u);
  const auto causes = causes_of(balancer.finish().facts);
  EXPECT_EQ(causes.front().kind, JuggleCause::Kind::bound_unevenly);
}

TEST_F(BalancerTest, detects_spinning_threads_if_there_are_more_threads_than_cpus) {
  options.settings.policy = JugglePolicy::off;
  kernel.active = {100};
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  EXPECT_EQ(causes_of(balancer.finish().facts).front().kind, JuggleCause::Kind::spinning);
}

TEST_F(BalancerTest, moves_a_thread_immediately_if_a_thread_on_another_cpu_begins_to_wait) {
  options.settings.policy = JugglePolicy::reactive;
  for (const auto& [id, thread] : kernel.threads_by_id) kernel.waits[id] = {};
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  std::map<Cpus, std::vector<pid_t>> on;
  for (const auto& [id, thread] : kernel.threads_by_id) on[thread.affinity].push_back(id);
  ASSERT_THAT(on, SizeIs(2));
  const auto& alone = on.begin()->second.size() == 1 ? *on.begin() : *on.rbegin();
  kernel.waits[alone.second.front()].is_inside = true;
  balancer.react();
  std::size_t there = 0;
  for (const auto& [id, thread] : kernel.threads_by_id) there += thread.affinity == alone.first;
  EXPECT_EQ(there, 2u);
  EXPECT_EQ(balancer.finish().reactions, 1u);
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(BalancerTest,
       if_no_thread_reports_waits_one_message_says_that_the_balancer_looks_for_waits_regularly) {
  options.settings.policy = JugglePolicy::hybrid;
  Balancer balancer(options, store, kernel);
  run(balancer, 5);
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("looks for waits every 20 ms")));
}

/// Eight threads that sleep at barriers on 64 cpus, with a quota of 2.5 cpus.
class QuotaTest : public BalancerTest {
 protected:
  QuotaTest() {
    for (CpuId cpu = 0; cpu < 64; ++cpu) all.push_back(cpu);
    kernel.allowed = all;
    kernel.quota = kernel.quota_of_root = 2.5;
    for (pid_t id = 103; id < 108; ++id) kernel.start(100, id, all);
    for (auto& [id, thread] : kernel.threads_by_id) {
      thread.affinity = all;
      thread.asleep = 0.3;
    }
    options.settings.policy = JugglePolicy::automatic;
    options.first_cpu = 63;
  }
  Cpus all;
};

TEST_F(QuotaTest, binds_threads_to_as_many_cpus_as_the_quota_allows) {
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  for (const auto& [id, thread] : kernel.threads_by_id)
    EXPECT_EQ(thread.affinity, (Cpus{0, 1, 63}));
  EXPECT_THAT(notes,
              testing::ElementsAre(testing::HasSubstr("pays for 2.5 cpus of 64: 3 threads")));
  const auto causes = causes_of(balancer.finish().facts);
  EXPECT_EQ(causes.front().kind, JuggleCause::Kind::quota);
  EXPECT_GE(causes.front().gain, 8 / 2.5);
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, all);
}

TEST_F(QuotaTest,
       finds_the_quota_of_the_processes_that_compute_even_if_the_first_process_has_none) {
  kernel.quota_of_root.reset();
  Balancer balancer(options, store, kernel);
  EXPECT_THAT(notes, IsEmpty());
  run(balancer, 0.2);
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("pays for 2.5 cpus of 64")));
  EXPECT_EQ(causes_of(balancer.finish().facts).front().kind, JuggleCause::Kind::unknown);
}

TEST_F(QuotaTest, remembers_the_quota_of_the_computing_processes_while_no_process_computes) {
  kernel.quota_of_root.reset();
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  for (auto& [id, thread] : kernel.threads_by_id) thread.asleep = 1;
  run(balancer, 65);
  EXPECT_EQ(balancer.finish().facts.quota_cpus, 2.5);
}

TEST_F(QuotaTest, the_predicted_time_and_the_fair_share_respect_the_quota) {
  options.settings.policy = JugglePolicy::off;
  for (auto& [id, thread] : kernel.threads_by_id) thread.asleep = 0;
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  const Tally tally = balancer.finish();
  EXPECT_NEAR(tally.fair_s / tally.part_s, 2.5, 1e-9);
  EXPECT_NEAR(tally.static_s / tally.part_s, 2.5, 1e-9);
}

TEST_F(QuotaTest,
       the_message_about_a_changed_quota_states_the_quota_and_the_number_of_usable_cpus) {
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  kernel.quota = 2;
  run(balancer, 65);
  EXPECT_THAT(notes.back(), testing::HasSubstr("pays for 2 cpus of 64: 2 threads"));
  EXPECT_EQ(causes_of(balancer.finish().facts).front().kind, JuggleCause::Kind::quota);
}

TEST_F(QuotaTest, uses_all_cpus_again_when_the_quota_is_lifted) {
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  kernel.quota.reset();
  run(balancer, 65);  // the balancer reads the quota once a minute
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, all);
}

TEST_F(QuotaTest, does_not_bind_threads_that_might_spin_while_they_wait) {
  for (auto& [id, thread] : kernel.threads_by_id) thread.asleep = 0;
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  for (const auto& [id, thread] : kernel.threads_by_id) EXPECT_EQ(thread.affinity, all);
}

TEST_F(QuotaTest, only_the_policy_auto_confines_threads_to_as_many_cpus_as_the_quota_allows) {
  options.settings.policy = JugglePolicy::proactive;
  Balancer balancer(options, store, kernel);
  run(balancer, 3);
  std::set<Cpus> used;
  for (const auto& [id, thread] : kernel.threads_by_id) used.insert(thread.affinity);
  EXPECT_THAT(used, SizeIs(8));
  EXPECT_EQ(balancer.finish().facts.quota_cpus, 2.5);
}

TEST_F(BalancerTest, reports_only_living_threads_in_each_round_and_all_threads_at_the_end) {
  std::size_t most = 0;
  options.on_round = [&](const Tally& tally) { most = std::max(most, tally.threads.size()); };
  Balancer balancer(options, store, kernel);
  for (pid_t id = 200; id < 220; ++id) {
    run(balancer, 1);
    kernel.start(id, id, kCpus);
    run(balancer, 1);
    kernel.end(id);
  }
  run(balancer, 1);
  EXPECT_LE(most, 5u);
  const Tally tally = balancer.finish();
  EXPECT_THAT(tally.threads, SizeIs(3 + 20));
  EXPECT_TRUE(std::ranges::is_sorted(tally.threads, {}, &ThreadTally::key));
}

TEST_F(BalancerTest, ignores_excluded_threads) {
  options.skip_thread = 0;
  Balancer balancer(options, store, kernel);
  run(balancer, 1);
  EXPECT_EQ(num_kept(), 2u);
  EXPECT_EQ(kernel.on(100), kCpus);
}

}  // namespace
}  // namespace poise::juggle
