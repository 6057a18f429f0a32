// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "poise/trace/timeline.h"

namespace poise::juggle {
namespace {

using testing::HasSubstr;
using testing::Not;

Tally tally() {
  Tally tally;
  tally.elapsed_s = 10;
  tally.balancing_s = 9;
  tally.own_cpu_s = 0.01;
  tally.rounds = 100;
  tally.rounds_cpu_s = 0.005;
  tally.least_round_s = 0.00004;
  tally.still_rounds = 50;
  tally.still_rounds_cpu_s = 0.00225;
  tally.early_wake_ups = 2;
  tally.migrations = 40;
  tally.cpus = {0, 1};
  tally.most_threads = 3;
  tally.part_s = 10;
  tally.threads_s = 30;
  tally.fair_s = 20;
  tally.static_s = 15;
  for (const pid_t id : {11, 12, 13}) {
    ThreadTally thread;
    thread.process = 10;
    thread.id = id;
    thread.takes_part = true;
    thread.cpu = id % 2;
    thread.seen_s = 10;
    thread.run_s = id == 11 ? 7 : 6.5;
    tally.threads.push_back(thread);
  }
  tally.stays = {{10, 11, 1, 0.5, 1.5}};
  return tally;
}

TEST(Report, summary_shows_the_cpu_shares_of_threads_and_the_cost_of_balancing) {
  const std::string text = summary_text(tally());
  EXPECT_THAT(text, HasSubstr("3 threads on cpus 0-1"));
  EXPECT_THAT(text, HasSubstr("65.0% to 70.0% of the time; fair is 66.7%"));
  EXPECT_THAT(text, HasSubstr("40 migrations, 4.0 per second"));
  EXPECT_THAT(text, HasSubstr("100 balancing points of 50 us cpu time each (45 if nothing moved, "
                              "minimum 40); 0.10%"));
  EXPECT_THAT(text, HasSubstr("2 wake-ups before a balancing point was due"));
}

TEST(Report, a_thread_that_has_only_just_started_does_not_affect_the_reported_cpu_shares) {
  Tally four = tally();
  four.threads.push_back({.id = 14, .takes_part = true, .part_since_s = 10, .seen_s = 10});
  EXPECT_THAT(summary_text(four), HasSubstr("65.0% to 70.0% of the time"));
  EXPECT_THAT(live_line(four), HasSubstr("4 threads with 65.0% to 70.0% of a cpu"));
}

TEST(Report, uses_the_singular_for_a_single_thread) {
  Tally one = tally();
  one.most_threads = 1;
  one.threads.resize(1);
  EXPECT_THAT(summary_text(one), HasSubstr("; 1 thread on cpus 0-1"));
  EXPECT_THAT(live_line(one), HasSubstr(", 1 thread with"));
}

TEST(Report, the_summary_shows_the_speeds_of_cpus_if_speeds_differ) {
  Tally unequal = tally();
  unequal.speeds = {1, 1};
  EXPECT_THAT(summary_text(unequal), Not(HasSubstr("speeds")));
  unequal.speeds = {1, 0.5};
  EXPECT_THAT(summary_text(unequal), HasSubstr("speeds 1.00, 0.50\n"));
}

TEST(Report, the_duration_of_the_work_is_predicted_from_the_run_times_of_the_threads) {
  // Three threads ran on two cpus, for 20/3 s each on average. With balancing, the work takes 3/2
  // of this average, because there are 3/2 threads per cpu. Without balancing it takes 2 times the
  // average, because two threads stay on the same cpu.
  EXPECT_DOUBLE_EQ(prediction(tally()).balanced_s, 20.0 / 3 * 3 / 2);
  EXPECT_DOUBLE_EQ(prediction(tally()).static_s, 20.0 / 3 * 2);
  EXPECT_THAT(
      summary_text(tally()),
      HasSubstr("their work in 10.00 s; predicted on free cpus 10.00 s balanced, 13.33 s not"));
}

TEST(Report, contains_no_invalid_numbers_if_there_were_no_threads) {
  for (const std::string& text : {summary_text({}), summary_json({}), live_text({}, 5)}) {
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
  }
}

TEST(Report, json_lists_every_thread) {
  const auto json = nlohmann::json::parse(summary_json(tally()));
  EXPECT_EQ(json["threads"].size(), 3u);
  EXPECT_DOUBLE_EQ(json["threads"][0]["share"], 0.7);
  EXPECT_DOUBLE_EQ(json["fair_share"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(json["balancing_point_s"], 5e-5);
  EXPECT_EQ(json["speeds"], nlohmann::json::array());
}

TEST(Report, timeline_shows_for_each_cpu_which_threads_ran_there_and_when) {
  const auto events = nlohmann::json::parse(trace_json(tally()))["traceEvents"];
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["args"]["name"], "cpu 0");
  EXPECT_EQ(events[2]["args"]["name"], "thread 11");
  EXPECT_EQ(events[3]["pid"], 1);
  EXPECT_EQ(events[3]["tid"], 11);
  EXPECT_EQ(events[3]["cat"], "work");
  EXPECT_DOUBLE_EQ(events[3]["dur"], 1e6);
  const Timeline timeline = timeline_from_text("trace.json", trace_json(tally()));
  EXPECT_THAT(timeline.names, testing::ElementsAre("cpu 0", "cpu 1"));
  EXPECT_EQ(timeline.places[1].size(), 1u);
}

TEST(Report, the_live_display_shows_only_as_many_threads_as_fit_on_the_screen) {
  const std::string text = live_text(tally(), 2);
  EXPECT_THAT(text, HasSubstr("12"));
  EXPECT_THAT(text, Not(HasSubstr("13")));
}

TEST(Report, the_status_line_during_a_run_shows_which_cpu_share_the_threads_get) {
  Tally three = tally();
  three.is_balancing = true;
  EXPECT_EQ(live_line(three),
            "10.0 s, balancing, 3 threads with 65.0% to 70.0% of a cpu, 40 migrations\n");
  EXPECT_EQ(live_line({}), "0.0 s, watching, 0 threads, 0 migrations\n");
}

}  // namespace
}  // namespace poise::juggle
