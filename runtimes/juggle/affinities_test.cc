// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/affinities.h"

#include <gmock/gmock.h>

#include "runtimes/juggle/simulated_kernel.h"
#include "runtimes/juggle/tuning.h"

#include "poise/base/clock.h"

namespace poise::juggle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using PinResult = Affinities::PinResult;

/// Tests start with one process (id 100) that has two threads (ids 100 and 101), which may use cpus
/// 0 to 3.
class AffinitiesTest : public testing::Test {
 protected:
  AffinitiesTest() {
    for (const pid_t id : {100, 101}) kernel.start(100, id, kAll);
    scan();
  }

  /// Adds new threads to the Affinities and removes dead ones, as the balancer does.
  void scan() {
    const Changes changes = kernel.scan();
    for (const std::uint64_t key : changes.born) affinities.add(key);
    affinities.refresh_own();
    for (const std::uint64_t key : changes.died) affinities.remove(key);
    affinities.end_scan();
  }
  PinResult pin(pid_t id, CpuId cpu) { return affinities.pin(kernel.key_of(id), cpu); }
  const Cpus& on(pid_t id) const { return kernel.on(id); }
  const ThreadAffinity& kept(pid_t id) const { return affinities.threads().at(kernel.key_of(id)); }

  const Cpus kAll = {0, 1, 2, 3};
  SimulatedKernel kernel{kAll};
  SimulatedStore store;
  std::vector<std::string> notes;
  Affinities affinities{
      kernel, store, {}, [this](const std::string& note) { notes.push_back(note); }, true};
};

TEST_F(AffinitiesTest, restores_the_affinity_of_a_thread_that_was_pinned) {
  kernel.threads_by_id.at(101).affinity = {0, 1};
  affinities.refresh_own();
  EXPECT_EQ(pin(101, 2), PinResult::pinned);
  EXPECT_THAT(on(101), ElementsAre(2));
  EXPECT_EQ(store.size(), 1u);
  affinities.restore_all();
  EXPECT_THAT(on(101), ElementsAre(0, 1));
  EXPECT_EQ(store.size(), 0u);
}

TEST_F(AffinitiesTest,
       restores_an_affinity_that_the_program_set_just_before_the_thread_was_pinned) {
  kernel.threads_by_id.at(101).affinity = {0, 1};
  EXPECT_EQ(pin(101, 2), PinResult::pinned);
  affinities.restore_all();
  EXPECT_THAT(on(101), ElementsAre(0, 1));
}

TEST_F(AffinitiesTest, restores_the_affinity_of_a_living_thread_that_is_missing_from_a_scan) {
  pin(101, 1);
  kernel.out_of_sight.insert(101);
  scan();
  EXPECT_EQ(on(101), kAll);
  EXPECT_EQ(store.size(), 0u);
}

TEST_F(AffinitiesTest,
       restoring_gives_a_thread_all_allowed_cpus_if_none_of_its_own_cpus_is_still_allowed) {
  kernel.threads_by_id.at(101).affinity = {3};
  affinities.refresh_own();
  pin(101, 1);
  kernel.allowed = {0, 1};
  affinities.restore_all();
  EXPECT_THAT(on(101), ElementsAre(0, 1));
}

TEST_F(AffinitiesTest, does_not_move_a_thread_whose_original_affinity_cannot_be_saved) {
  store.room = 0;
  EXPECT_EQ(pin(101, 2), PinResult::not_now);
  EXPECT_EQ(on(101), kAll);
}

TEST_F(AffinitiesTest, does_not_change_a_new_thread_that_reuses_the_id_of_a_dead_one) {
  pin(101, 2);
  const std::uint64_t key = kernel.key_of(101);
  ++kernel.threads_by_id.at(101).start_time;
  affinities.restore(key);
  EXPECT_THAT(on(101), ElementsAre(2)) << "another thread's affinity was changed";
}

TEST_F(AffinitiesTest, does_not_move_threads_of_other_users) {
  kernel.foreign.insert(100);
  EXPECT_EQ(pin(101, 2), PinResult::refused_for_good);
  EXPECT_EQ(on(101), kAll);
}

TEST_F(AffinitiesTest, gives_a_new_thread_the_original_affinity_of_its_parent) {
  kernel.threads_by_id.at(101).affinity = {0, 1};
  affinities.refresh_own();
  pin(101, 1);
  kernel.start(200, 200, {1});
  scan();
  EXPECT_THAT(on(200), ElementsAre(0, 1));
}

TEST_F(AffinitiesTest,
       restores_the_affinity_of_a_new_thread_even_if_its_parent_now_runs_on_another_cpu) {
  pin(101, 1);
  pin(101, 3);
  kernel.start(200, 200, {1});
  scan();
  EXPECT_EQ(on(200), kAll);
}

TEST_F(AffinitiesTest,
       restores_the_affinity_of_a_new_thread_even_if_its_parent_has_been_moved_several_times) {
  for (const CpuId cpu : {0, 1, 2, 3}) pin(101, cpu);
  kernel.start(200, 200, {1});
  affinities.restore_all();
  scan();
  EXPECT_EQ(on(200), kAll);
  pin(101, 3);
  kernel.start(300, 300, {1});
  scan();
  EXPECT_THAT(on(300), ElementsAre(1)) << "no thread was on this cpu since the last scan";
}

TEST_F(AffinitiesTest, keeps_the_affinity_of_a_new_thread_if_no_thread_was_pinned_to_its_cpu) {
  pin(101, 1);
  kernel.start(200, 200, {3});
  scan();
  EXPECT_THAT(on(200), ElementsAre(3));
}

// Process 100 starts 200, which starts 300. Process 400 is another child of 100.
TEST_F(AffinitiesTest,
       treats_a_single_cpu_affinity_as_inherited_only_if_an_ancestor_was_pinned_to_the_cpu) {
  kernel.start(200, 200, kAll, 100);
  scan();
  pin(200, 1);
  kernel.start(300, 300, {1}, 200);
  kernel.start(400, 400, {1}, 100);
  scan();
  EXPECT_EQ(on(300), kAll) << "it has inherited the affinity";
  EXPECT_THAT(on(400), ElementsAre(1)) << "the program has bound it";
}

TEST_F(AffinitiesTest,
       a_process_on_the_cpu_of_two_pinned_ancestors_gets_the_affinity_of_the_nearer_ancestor) {
  kernel.start(200, 200, {0, 1}, 100);
  scan();
  pin(100, 1);
  pin(200, 1);
  kernel.start(300, 300, {1}, 200);
  scan();
  EXPECT_THAT(on(300), ElementsAre(0, 1));
}

TEST_F(AffinitiesTest,
       children_of_a_thread_that_the_balancer_unbound_get_the_affinity_set_by_the_program) {
  affinities.refresh_cpus();
  kernel.threads_by_id.at(100).affinity = {2};
  affinities.refresh_own();
  affinities.widen(kernel.key_of(100), kAll);
  kernel.start(200, 200, kAll, 100);
  kernel.start(300, 300, kAll, 1);  // not known to be a descendant
  scan();
  EXPECT_THAT(on(200), ElementsAre(2));
  EXPECT_EQ(on(300), kAll);
  affinities.widen(kernel.key_of(101), {0, 1});
  kernel.start(400, 400, {0, 1}, 1);
  scan();
  EXPECT_EQ(on(400), kAll);
}

TEST_F(AffinitiesTest, adds_new_processes_quickly_even_if_thousands_of_processes_are_pinned) {
  constexpr pid_t kProcesses = 4000;
  store.room = kProcesses;
  for (pid_t id = 1000; id < 1000 + kProcesses; ++id) kernel.start(id, id, kAll, 100);
  scan();
  for (const auto& [key, thread] : kernel.threads())
    if (thread.process >= 1000) affinities.pin(key, 1);
  for (pid_t id = 10'000; id < 10'100; ++id) kernel.start(id, id, {1}, 1000 + id % kProcesses);
  const double start_s = thread_cpu_now_s();
  scan();
  EXPECT_LT(thread_cpu_now_s() - start_s, 2);
  EXPECT_EQ(on(10'099), kAll);
}

TEST_F(AffinitiesTest, restores_the_affinity_of_a_new_thread_if_its_parent_has_ended) {
  kernel.start(200, 200, kAll, 100);
  scan();
  pin(200, 1);
  kernel.start(300, 300, {1}, 1);  // a daemon, adopted by process 1
  kernel.start(301, 301, {1}, 300);
  scan();
  EXPECT_EQ(on(300), kAll);
  EXPECT_EQ(on(301), kAll);
}

TEST_F(AffinitiesTest, adds_a_thread_even_if_the_id_of_its_parent_was_reused_by_a_descendant) {
  pin(101, 1);
  kernel.start(200, 200, kAll, 300);
  kernel.start(300, 300, kAll, 200);
  kernel.start(400, 400, {1}, 300);
  scan();
  EXPECT_EQ(on(400), kAll);
}

TEST_F(AffinitiesTest, keeps_an_affinity_that_the_program_has_set_and_tells_the_user_about_it) {
  pin(101, 1);
  kernel.threads_by_id.at(101).affinity = {2};
  EXPECT_THAT(affinities.respect_own_choices(), ElementsAre(kernel.key_of(101)));
  EXPECT_EQ(store.size(), 0u);
  EXPECT_FALSE(kept(101).cpu);
  EXPECT_THAT(notes, SizeIs(1));
  affinities.restore_all();
  EXPECT_THAT(on(101), ElementsAre(2));
}

TEST_F(AffinitiesTest,
       restoring_keeps_an_affinity_that_the_program_has_set_since_the_thread_was_pinned) {
  for (const bool all : {false, true}) {
    const CpuId chosen = all ? 3 : 2;
    pin(101, 1);
    kernel.threads_by_id.at(101).affinity = {chosen};
    if (all)
      EXPECT_THAT(affinities.restore_all(), ElementsAre(kernel.key_of(101)));
    else
      EXPECT_FALSE(affinities.restore(kernel.key_of(101)));
    EXPECT_THAT(on(101), ElementsAre(chosen));
    EXPECT_EQ(store.size(), 0u);
  }
}

TEST_F(AffinitiesTest,
       an_affinity_restored_by_the_guard_process_does_not_count_as_set_by_the_program) {
  kernel.threads_by_id.at(101).affinity = {0};
  affinities.refresh_own();
  pin(101, 1);
  kernel.threads_by_id.at(101).affinity = {0};
  EXPECT_THAT(affinities.restore_all(), IsEmpty());
  EXPECT_THAT(on(101), ElementsAre(0));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(AffinitiesTest, does_not_pin_a_thread_again_after_the_program_has_set_its_affinity) {
  pin(101, 1);
  kernel.threads_by_id.at(101).affinity = {2};
  EXPECT_EQ(pin(101, 3), PinResult::left_to_program);
  EXPECT_THAT(on(101), ElementsAre(2));
}

TEST_F(AffinitiesTest, pins_a_thread_again_after_the_kernel_reset_its_affinity_to_all_cpus) {
  pin(101, 1);
  kernel.threads_by_id.at(101).affinity = kAll;
  EXPECT_THAT(affinities.respect_own_choices(), IsEmpty());
  EXPECT_THAT(on(101), ElementsAre(1));
}

TEST_F(AffinitiesTest, ignores_affinity_changes_that_the_kernel_makes_when_cpus_are_taken_away) {
  pin(101, 3);
  kernel.allowed = {0, 1};
  kernel.threads_by_id.at(101).affinity = {0, 1};
  EXPECT_THAT(affinities.respect_own_choices(), IsEmpty());
  EXPECT_TRUE(affinities.refresh_cpus());
  EXPECT_THAT(affinities.cpus(), ElementsAre(0, 1));
  EXPECT_FALSE(kept(101).cpu);
  EXPECT_FALSE(affinities.refresh_cpus());
}

TEST_F(AffinitiesTest, a_thread_may_use_its_original_cpus_again_as_soon_as_they_are_allowed_again) {
  affinities.refresh_cpus();
  kernel.allowed = {0, 1};
  kernel.threads_by_id.at(100).affinity = {0};  // the program's choice
  kernel.threads_by_id.at(101).affinity = {0, 1};
  affinities.refresh_cpus();
  affinities.refresh_own();
  for (const pid_t id : {100, 101}) pin(id, 1);
  kernel.allowed = kAll;
  affinities.refresh_cpus();
  affinities.restore_all();
  EXPECT_THAT(on(100), ElementsAre(0));
  EXPECT_EQ(on(101), kAll);
}

TEST_F(AffinitiesTest, restores_the_affinity_of_a_thread_after_it_calls_exec) {
  pin(101, 1);
  kernel.end(101);  // exec: the calling thread becomes the first thread of its process
  kernel.threads_by_id.at(100).affinity = {1};
  affinities.refresh_own();
  EXPECT_EQ(on(100), kAll);
  EXPECT_FALSE(affinities.is_itself(kernel.key_of(100)));
  EXPECT_TRUE(affinities.is_itself(kernel.key_of(100))) << "told once";
}

TEST_F(AffinitiesTest, gives_up_pinning_a_thread_only_if_the_kernel_refuses_an_available_cpu) {
  kernel.threads_by_id.at(101).is_bound = true;
  EXPECT_EQ(pin(101, 1), PinResult::refused_for_good);
  kernel.allowed = {0};
  EXPECT_EQ(pin(101, 1), PinResult::not_now);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(affinities.refusals, 2u);
  EXPECT_THAT(affinities.stays, IsEmpty());
}

TEST_F(AffinitiesTest, tells_the_user_that_the_system_does_not_allow_threads_to_be_moved) {
  kernel.threads_by_id.at(101).is_bound = true;
  kernel.refusal = EPERM;
  EXPECT_EQ(pin(101, 1), PinResult::refused_for_good);
  EXPECT_THAT(notes, ElementsAre(testing::HasSubstr("not balanced")));
}

TEST_F(AffinitiesTest, records_the_cpu_of_each_thread_over_time) {
  pin(101, 1);
  kernel.time_s = 2;
  pin(101, 3);
  kernel.time_s = 5;
  affinities.restore_all();
  ASSERT_THAT(affinities.stays, SizeIs(2));
  EXPECT_EQ(affinities.stays[0].cpu, 1u);
  EXPECT_EQ(affinities.stays[0].to_s, 2);
  EXPECT_EQ(affinities.stays[1].cpu, 3u);
  EXPECT_EQ(affinities.stays[1].from_s, 2);
  EXPECT_EQ(affinities.stays[1].id, 101);
}

TEST_F(AffinitiesTest, tells_the_user_that_the_trace_is_full) {
  affinities.stays.resize(kTuning.max_stays);
  pin(101, 1);
  EXPECT_THAT(notes, IsEmpty());
  pin(101, 3);
  EXPECT_THAT(notes,
              ElementsAre(testing::HasSubstr("the trace is full: it has 1000000 intervals")));
}

TEST(UsableCpus, if_no_requested_cpu_is_allowed_all_allowed_cpus_are_used) {
  const SimulatedKernel kernel({0, 1, 2});
  EXPECT_THAT(usable_cpus(kernel, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(usable_cpus(kernel, {1, 5}), ElementsAre(1));
  EXPECT_THAT(usable_cpus(kernel, {5}), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace poise::juggle
