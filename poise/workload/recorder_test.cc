// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/recorder.h"

#include <barrier>
#include <gmock/gmock.h>
#include <map>
#include <thread>

#include "tests/support/text_of_error.h"

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::HasSubstr;

std::string error_at_end(Recorder& recorder) {
  return text_of_error([&] { recorder.end_phase(0); });
}

TEST(Recorder, adds_up_the_time_of_each_task_and_keeps_its_other_properties) {
  Recorder recorder({{.load_s = 7, .bytes = 100}, {.movable = false}}, 1);
  Recorder::Log& log = recorder.add_thread();
  log.begin(0, 1.0);
  log.end(0, 1.5);
  log.begin(1, 2.0);
  log.end(1, 2.25);
  log.begin(0, 3.0);
  log.end(0, 4.0);
  const Workload phase = recorder.end_phase(5.0);
  EXPECT_EQ(phase.tasks[0].load_s, 1.5);
  EXPECT_EQ(phase.tasks[0].bytes, 100u);
  EXPECT_EQ(phase.tasks[1].load_s, 0.25);
  EXPECT_FALSE(phase.tasks[1].movable);
  EXPECT_TRUE(phase.messages.empty());
  EXPECT_TRUE(phase.background_s.empty());
}

TEST(Recorder, a_suspended_task_is_not_charged_for_the_time_of_the_interrupting_task) {
  Recorder recorder(std::vector<Task>(3), 1);
  Recorder::Log& log = recorder.add_thread();
  log.begin(0, 0);
  log.begin(1, 1);
  log.begin(2, 3);
  log.end(2, 7);
  log.end(1, 7.5);
  log.end(0, 8);
  const Workload phase = recorder.end_phase(9);
  EXPECT_EQ(phase.tasks[0].load_s, 1 + 0.5);
  EXPECT_EQ(phase.tasks[1].load_s, 2 + 0.5);
  EXPECT_EQ(phase.tasks[2].load_s, 4);
}

TEST(Recorder, the_time_of_a_task_that_runs_across_a_phase_end_is_split_between_both_phases) {
  Recorder recorder(std::vector<Task>(2), 1);
  Recorder::Log& log = recorder.add_thread();
  log.begin(0, 0);
  log.begin(1, 1);
  const Workload first = recorder.end_phase(3);
  EXPECT_EQ(first.tasks[0].load_s, 1);
  EXPECT_EQ(first.tasks[1].load_s, 2);
  log.end(1, 7);
  log.end(0, 12);
  const Workload second = recorder.end_phase(12);
  EXPECT_EQ(second.tasks[0].load_s, 5);
  EXPECT_EQ(second.tasks[1].load_s, 4);
}

TEST(Recorder, the_times_of_a_task_that_continues_in_another_thread_are_summed) {
  Recorder recorder(std::vector<Task>(1), 2);
  Recorder::Log& here = recorder.add_thread();
  Recorder::Log& there = recorder.add_thread();
  here.begin(0, 0);
  here.end(0, 1);
  there.begin(0, 100);  // the clocks of threads may differ
  there.end(0, 102);
  EXPECT_EQ(recorder.end_phase(0).tasks[0].load_s, 3);
}

TEST(Recorder, messages_of_all_threads_are_summed_and_sorted_by_sender_and_receiver) {
  Recorder recorder(std::vector<Task>(3), 1);
  Recorder::Log& one = recorder.add_thread();
  Recorder::Log& two = recorder.add_thread();
  one.message(2, 0, 5);
  one.message(0, 1, 10);
  two.message(0, 1, 20);
  two.message(1, 0, 1);
  two.message(0, 1, 0);
  const Workload phase = recorder.end_phase(0);
  ASSERT_EQ(phase.messages.size(), 3u);
  EXPECT_EQ(phase.messages[0].count, 3u);
  EXPECT_EQ(phase.messages[0].bytes, 30u);
  EXPECT_EQ(phase.messages[1].from, 1u);
  EXPECT_EQ(phase.messages[2].from, 2u);
  EXPECT_EQ(phase.messages[2].bytes, 5u);
}

TEST(Recorder, every_phase_starts_without_the_loads_and_messages_of_the_previous_phase) {
  Recorder recorder(std::vector<Task>(4), 2);
  Recorder::Log& log = recorder.add_thread();
  for (int phase = 0; phase < 3; ++phase) {
    log.begin(0, 0);
    log.end(0, 1);
    log.message(0, 1, 8);
    if (phase == 1) log.message(2, 3, 8);  // sent only in this phase
    log.background(1, 0.5);
    const Workload workload = recorder.end_phase(1);
    EXPECT_EQ(workload.tasks[0].load_s, 1);
    EXPECT_EQ(workload.messages.size(), phase == 1 ? 2u : 1u);
    EXPECT_EQ(workload.messages[0].count, 1u);
    EXPECT_EQ(workload.background_s, (std::vector<double>{0, 0.5}));
  }
  EXPECT_TRUE(recorder.end_phase(1).background_s.empty());
}

TEST(Recorder, an_invalid_call_is_reported_once_at_the_end_of_the_phase) {
  Recorder recorder(std::vector<Task>(3), 2);
  Recorder::Log& log = recorder.add_thread();
  log.begin(3, 0);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("task 3 does not exist; there are 3"));
  log.message(0, 9, 1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("task 9 does not exist"));
  log.begin(0, 0);
  log.end(1, 1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("task 1 ended"));
  log.end(0, 2);
  log.end(0, 3);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("task 0 ended"));
  log.begin(2, 5);
  log.end(2, 4);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("time ran backwards while task 2"));
  log.background(2, 1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("place 2 does not exist"));
  log.background(1, -1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("background load of place 1"));
  EXPECT_EQ(error_at_end(recorder), "no error");
}

TEST(Recorder,
     a_recording_lists_each_task_and_each_communicating_pair_of_tasks_once_and_in_sorted_order) {
  Recorder recorder(TaskId{1000}, 1);
  Recorder::Log& one = recorder.add_thread();
  Recorder::Log& two = recorder.add_thread();
  for (int phase = 0; phase < 2; ++phase) {
    one.begin(700, 0);
    one.end(700, 2);
    one.begin(5, 2);
    one.end(5, 2.5);
    two.begin(700, 10);
    two.end(700, 11);
    two.begin(6, 20);
    one.message(700, 5, 30);
    one.message(5, 700, 1);
    two.message(700, 5, 4);
    two.message(5, 6, 9);
    const Recording recording = recorder.end_recording(20.25);
    std::vector<std::pair<TaskId, double>> loads;
    for (const auto& [task, load_s] : recording.loads) loads.emplace_back(task, load_s);
    EXPECT_EQ(loads, (std::vector<std::pair<TaskId, double>>{{5, 0.5}, {6, 0.25}, {700, 3}}));
    ASSERT_EQ(recording.messages.size(), 3u);
    const std::vector<Message> expected{{5, 6, 1, 9}, {5, 700, 1, 1}, {700, 5, 2, 34}};
    for (std::size_t m = 0; m < 3; ++m) {
      EXPECT_EQ(recording.messages[m].from, expected[m].from);
      EXPECT_EQ(recording.messages[m].to, expected[m].to);
      EXPECT_EQ(recording.messages[m].count, expected[m].count);
      EXPECT_EQ(recording.messages[m].bytes, expected[m].bytes);
    }
    two.end(6, 20.25);
  }
}

TEST(Recorder, only_the_first_of_several_invalid_calls_in_a_phase_is_reported) {
  Recorder recorder(std::vector<Task>(3), 2);
  Recorder::Log& one = recorder.add_thread();
  Recorder::Log& two = recorder.add_thread();
  two.message(8, 0, 1);
  two.background(7, 1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("task 8 does not exist; there are 3"));
  one.background(5, 1);
  two.message(9, 0, 1);
  EXPECT_THAT(error_at_end(recorder), HasSubstr("place 5 does not exist; there are 2"));
  EXPECT_EQ(error_at_end(recorder), "no error");
}

TEST(Recorder, sums_random_messages_like_a_simple_reference_implementation) {
  constexpr TaskId kTasks = 200;
  Random random(11);
  SCOPED_TRACE("seed 11");
  Recorder recorder(std::vector<Task>(kTasks), 1);
  std::vector<Recorder::Log*> logs;
  for (int thread = 0; thread < 3; ++thread) logs.push_back(&recorder.add_thread());
  for (int phase = 0; phase < 4; ++phase) {
    std::map<std::pair<TaskId, TaskId>, std::pair<std::uint64_t, std::uint64_t>> expected;
    for (int i = 0; i < 20000; ++i) {
      // Some pairs of tasks have messages in one phase but not in the next, because the number of
      // possible senders halves from phase to phase. Other pairs occur for the first time, because
      // senders and receivers are random.
      const auto from = static_cast<TaskId>(random.below(kTasks >> phase));
      const auto to = static_cast<TaskId>(random.below(kTasks));
      const std::uint64_t bytes = random.below(1000);
      logs[random.below(3)]->message(from, to, bytes);
      ++expected[{from, to}].first;
      expected[{from, to}].second += bytes;
    }
    const Workload workload = recorder.end_phase(0);
    ASSERT_EQ(workload.messages.size(), expected.size());
    auto next = expected.begin();
    for (const Message& m : workload.messages) {
      ASSERT_EQ(std::pair(m.from, m.to), next->first);
      ASSERT_EQ(std::pair(m.count, m.bytes), next->second);
      ++next;
    }
  }
}

TEST(Recorder, nothing_is_lost_or_counted_twice_if_many_threads_record_at_the_same_time) {
  constexpr int kThreads = 8, kPhases = 5, kRounds = 200;
  Recorder recorder(std::vector<Task>(kThreads), kThreads);
  std::vector<Workload> phases;
  double now_s = 0;
  std::barrier barrier(kThreads, [&]() noexcept { phases.push_back(recorder.end_phase(now_s)); });
  std::vector<std::thread> threads;
  for (TaskId t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Recorder::Log& log = recorder.add_thread();
      for (int phase = 0; phase < kPhases; ++phase) {
        for (int round = 0; round < kRounds; ++round) {
          log.begin(t, round);
          log.message(t, (t + 1) % kThreads, 10);
          log.message(t, 0, 1);
          log.end(t, round + 0.5);
          log.background(t, 0.25);
        }
        barrier.arrive_and_wait();
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(phases.size(), std::size_t{kPhases});
  for (const Workload& phase : phases) {
    for (TaskId t = 0; t < kThreads; ++t) {
      EXPECT_EQ(phase.tasks[t].load_s, kRounds * 0.5);
      EXPECT_EQ(phase.background_s[t], kRounds * 0.25);
    }
    std::uint64_t bytes = 0;
    for (const Message& m : phase.messages) bytes += m.bytes;
    EXPECT_EQ(bytes, std::uint64_t{kThreads} * kRounds * 11);
  }
}

}  // namespace
}  // namespace poise
