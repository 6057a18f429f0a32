// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/trace.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "runtimes/tasks/tuning.h"

#include "poise/trace/timeline.h"

namespace poise::tasks {
namespace {

using nlohmann::json;

// Rank 0 runs one task and lends two; rank 1 runs one of them and lends the other on to rank 2.
std::vector<RankTrace> three_ranks() {
  std::vector<RankTrace> ranks(3);
  ranks[0].ran = {{1, 2, 0, 0, 0, 0}};
  const Reason pushed{false, true, 1, {0.5, 0.25}, {0.002, 0.3}};
  const Reason asked{true, false, 1, {}, {}};
  ranks[0].lent = {{0.5, 1, 0, 7, 1, 640, pushed}, {1.25, 1, 0, 8, 0, 320, asked}};
  ranks[1].ran = {{1.5, 2.5, 0, 1, 0, 8}};
  ranks[1].lent = {{1.75, 2, 0, 7}};
  ranks[2].ran = {{2, 3, 4, 0, 0, 7}};
  ranks[2].num_threads = 0;  // so that only thread 4, which ran a task, has a row
  for (RankTrace& rank : ranks) rank.waits = {{1, 3.5}};
  return ranks;
}

std::vector<json> events_like(const std::string& phase, const std::string& name) {
  const std::vector<std::string> names = {"multiply", "add"};
  const json trace = json::parse(trace_json(three_ranks(), names));
  std::vector<json> found;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == phase && event["name"] == name) found.push_back(event);
  return found;
}

TEST(Trace, shows_each_task_on_the_rank_that_ran_it_and_names_the_owner_of_the_task) {
  ASSERT_EQ(events_like("X", "multiply").size(), 1u);
  const auto lent = events_like("X", "multiply of rank 0");
  ASSERT_EQ(lent.size(), 1u);
  EXPECT_EQ(lent[0]["pid"], 2);
  EXPECT_EQ(lent[0]["tid"], 4);
  EXPECT_EQ(lent[0]["ts"], 2e6);
  EXPECT_EQ(lent[0]["dur"], 1e6);
  EXPECT_EQ(events_like("X", "add of rank 0").size(), 1u);
}

TEST(Trace, shows_each_task_lent_to_another_rank_and_why_it_was_lent) {
  const auto loans = events_like("X", "to rank 1");
  ASSERT_EQ(loans.size(), 2u);
  EXPECT_EQ(loans[0]["args"], (json{{"task", "add of rank 0"},
                                    {"bytes there and back", "640"},
                                    {"tasks in the loan", "1"},
                                    {"why", "rank 1 would be idle in 2.000 ms"},
                                    {"rank 0 busy for", "250.000 ms; without the loan 500.000 ms"},
                                    {"rank 1 busy for", "300.000 ms; without the loan 2.000 ms"}}));
  EXPECT_EQ(loans[1]["args"]["task"], "multiply of rank 0");
  EXPECT_EQ(loans[1]["args"]["why"], "rank 1 sent a steal request");
  EXPECT_FALSE(loans[1]["args"].contains("rank 1 busy for"));
  EXPECT_THAT(loans[1]["args"]["busy for"], testing::HasSubstr("unknown"));
}

TEST(Trace, can_be_read_as_a_timeline_that_has_one_row_per_thread) {
  const std::vector<std::string> names = {"multiply", "add"};
  std::vector<RankTrace> ranks = three_ranks();
  ranks[0].ran.push_back({1.5, 2.5, 1, 0, 0, 0});
  const Timeline timeline = timeline_from_text("trace.json", trace_json(ranks, names));
  EXPECT_THAT(timeline.names,
              testing::ElementsAre("rank 0, thread 0", "rank 0, thread 1", "rank 1", "rank 2"));
  for (const auto& spans : timeline.places) {
    EXPECT_THAT(seconds_of(spans), testing::ElementsAre(1, 1.5, 0));
    EXPECT_EQ(spans.front().start_s, 1);
  }
}

TEST(Trace, draws_an_arrow_from_the_last_rank_that_lent_a_task_to_the_rank_that_ran_the_task) {
  const auto starts = events_like("s", "lent"), ends = events_like("f", "lent");
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(starts[0]["pid"], 0);
  EXPECT_EQ(starts[0]["ts"], 1.25e6);
  EXPECT_EQ(ends[0]["pid"], 1);
  EXPECT_EQ(starts[1]["pid"], 1);  // rank 1, which lent the task on
  EXPECT_EQ(ends[1]["pid"], 2);
  EXPECT_EQ(starts[1]["id"], ends[1]["id"]);
  EXPECT_NE(starts[0]["id"], starts[1]["id"]);
}

TEST(Trace, contains_idle_events_for_all_times_in_which_a_rank_runs_no_task) {
  std::vector<double> idle_s(3);
  for (const json& event : events_like("X", "idle"))
    idle_s[event["pid"].get<std::size_t>()] += 1e-6 * event["dur"].get<double>();
  for (const double seconds : idle_s) EXPECT_DOUBLE_EQ(seconds, 1.5);
}

TEST(Trace, shows_threads_that_ran_no_task_as_idle_in_all_waits) {
  std::vector<RankTrace> ranks(2);
  ranks[0].ran = {{1, 2, 0, 0, 0, 0}};
  ranks[0].num_threads = 2;
  for (RankTrace& rank : ranks) rank.waits = {{1, 3.5}};
  const std::vector<std::string> names = {"multiply"};
  const Timeline timeline = timeline_from_text("trace.json", trace_json(ranks, names));
  EXPECT_THAT(timeline.names,
              testing::ElementsAre("rank 0, thread 0", "rank 0, thread 1", "rank 1"));
  const double waits_s[] = {1.5, 2.5, 2.5};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_THAT(seconds_of(timeline.places.at(i)), testing::ElementsAre(i == 0, waits_s[i], 0));
}

TEST(Trace, counts_as_truncated_if_any_kind_of_event_has_reached_its_limit) {
  RankTrace few, tasks, loans, waits;
  few.ran.resize(tuning::kMaxEvents - 1);
  tasks.ran.resize(tuning::kMaxEvents);
  loans.lent.resize(tuning::kMaxEvents);
  waits.waits.resize(tuning::kMaxEvents);
  EXPECT_FALSE(is_cut(few));
  for (const RankTrace* rank : {&tasks, &loans, &waits}) EXPECT_TRUE(is_cut(*rank));
}

}  // namespace
}  // namespace poise::tasks
