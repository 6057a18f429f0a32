// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/timeline.h"

#include <gmock/gmock.h>

#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class TimelineTest : public testing::Test {
 protected:
  const TestFolder folder_;
  const std::string path_ = folder_.file("timeline.json");
};

Timeline two_places() {
  return {"a \"run\"",
          {{{0, 0.5, Activity::work}, {0.5, 0.75, Activity::wait}, {1, 1.25, Activity::balance}},
           {{0.25, 2, Activity::work}, {2, 3, Activity::work, true}}}};
}

TEST_F(TimelineTest, a_timeline_is_unchanged_after_writing_and_reading) {
  write_timeline(two_places(), path_);
  const Timeline read = read_timeline(path_);
  EXPECT_EQ(read.title, two_places().title);
  EXPECT_EQ(read.places, two_places().places);
  EXPECT_TRUE(read.names.empty()) << "names such as \"place 0\" are the default";
  Timeline named = two_places();
  named.names = {"place 0", "rank 1"};
  write_timeline(named, path_);
  EXPECT_EQ(read_timeline(path_).names, named.names);
}

TEST_F(TimelineTest, adds_up_the_times_of_each_activity_of_a_place) {
  EXPECT_EQ(end_s(two_places()), 3);
  EXPECT_EQ(end_s({}), 0);
  EXPECT_THAT(seconds_of(two_places().places[0]), testing::ElementsAre(0.5, 0.25, 0.25));
}

/// Returns the text of a timeline file with these events.
std::string file_with(const std::string& events) { return "{\"traceEvents\":[" + events + "]}"; }

Timeline timeline_with(const std::string& events) {
  return timeline_from_text("t.json", file_with(events));
}

TEST_F(TimelineTest, the_file_is_in_the_format_of_perfetto) {
  write_timeline(two_places(), path_);
  const std::string text = read_file(path_);
  EXPECT_THAT(text, HasSubstr(R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":)"
                              R"({"name":"place 1"}})"));
  EXPECT_THAT(text, HasSubstr(R"({"ph":"X","name":"wait","pid":0,"tid":0,"cat":"wait",)"
                              R"("ts":500000.000,"dur":250000.000})"));
}

TEST_F(TimelineTest, a_thread_becomes_a_place_if_it_has_events_of_work_or_waiting_or_balancing) {
  const Timeline timeline = timeline_with(
      R"({"ph":"M","name":"process_name","pid":7,"args":{"name":"rank 7"}},
         {"ph":"M","name":"thread_name","pid":7,"tid":1,"args":{"name":"thread 1"}},
         {"ph":"M","name":"process_name","pid":9,"args":{"name":"rank 9"}},
         {"ph":"X","name":"f","cat":"work","pid":7,"tid":1,"ts":2e6,"dur":1e6},
         {"ph":"X","name":"g","cat":"work","pid":7,"tid":0,"ts":0,"dur":1e6},
         {"ph":"X","name":"lend","cat":"loan","pid":7,"tid":5,"ts":0,"dur":1},
         {"ph":"X","name":"h","cat":"wait","pid":8,"ts":0,"dur":5e5})");
  EXPECT_THAT(timeline.names,
              testing::ElementsAre("rank 7, row 0", "rank 7, thread 1", "process 8", "rank 9"));
  EXPECT_EQ(timeline.places[1], (std::vector<Span>{{2, 3, Activity::work}}));
  EXPECT_EQ(timeline.places[2], (std::vector<Span>{{0, 0.5, Activity::wait}}));
  EXPECT_TRUE(timeline.places[3].empty()) << "a group without slices did nothing";
  EXPECT_EQ(timeline.title, "t.json") << "a file without a title";
}

TEST_F(TimelineTest, a_process_without_time_slices_becomes_a_place_that_did_nothing) {
  const Timeline timeline = timeline_with(
      R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"a"}},
         {"ph":"M","name":"process_name","pid":1,"args":{"name":"b"}},
         {"ph":"M","name":"process_name","pid":2,"args":{"name":"c"}},
         {"ph":"X","cat":"work","pid":1,"ts":0,"dur":1e6})");
  EXPECT_THAT(timeline.names, testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(timeline.places,
              testing::ElementsAre(testing::IsEmpty(), testing::SizeIs(1), testing::IsEmpty()));
}

TEST_F(TimelineTest, if_two_events_overlap_the_overlap_belongs_to_the_event_that_begins_first) {
  const Timeline timeline = timeline_with(
      R"({"ph":"X","cat":"wait","pid":0,"ts":1e6,"dur":1e6},{"ph":"X","cat":"work","pid":0,"ts":0,"dur":3e6},
         {"ph":"X","cat":"balance","pid":0,"ts":2e6,"dur":2e6})");
  EXPECT_EQ(timeline.places[0],
            (std::vector<Span>{{0, 3, Activity::work}, {3, 4, Activity::balance}}));
}

TEST_F(TimelineTest, an_event_that_takes_no_time_or_is_covered_by_earlier_events_is_left_out) {
  const Timeline timeline = timeline_with(
      R"({"ph":"X","cat":"work","pid":0,"ts":1e6,"dur":2e6},
         {"ph":"X","cat":"wait","pid":0,"ts":2e6,"dur":1e6},
         {"ph":"X","cat":"wait","pid":0,"ts":2e6,"dur":5e5},
         {"ph":"X","cat":"balance","pid":0,"ts":0,"dur":0},
         {"ph":"X","cat":"balance","pid":0,"ts":5e6,"dur":0})");
  EXPECT_EQ(timeline.places[0], (std::vector<Span>{{1, 3, Activity::work}}));
}

TEST_F(TimelineTest, refuses_invalid_files_and_says_why) {
  const auto refusal_of = [](const std::string& text) {
    return [=] { timeline_from_text("t.json", text); };
  };
  for (const char* text : {"{}", "{\"traceEv", "[]", "{\"traceEvents\":1}"})
    EXPECT_THAT(refusal_of(text), ThrowsMessage<Error>(HasSubstr("the file is not a timeline")))
        << text;
  EXPECT_THAT(refusal_of(file_with("")),
              ThrowsMessage<Error>(HasSubstr("at least one event must have the category work")));
  EXPECT_THAT(refusal_of(file_with(R"(1,{"ph":"X","cat":"work","pid":0,"ts":0})")),
              ThrowsMessage<Error>(HasSubstr("event 1: the fields \"ts\" (start) and \"dur\"")));
  EXPECT_THAT(refusal_of(file_with(R"({"ph":"X","cat":"work","pid":"a","ts":0,"dur":1})")),
              ThrowsMessage<Error>(HasSubstr("event 0: the field \"pid\" must be an integer")));
  for (const char* times : {R"("ts":0,"dur":-1)", R"("ts":-1,"dur":1)", R"("ts":1e308,"dur":1e308)",
                            R"("ts":0,"dur":1.1e21)", R"("ts":1.1e21,"dur":0)"})
    EXPECT_THAT(
        refusal_of(file_with(std::string(R"({"ph":"X","cat":"work","pid":0,)") + times + "}")),
        ThrowsMessage<Error>(HasSubstr("both must be from 0 to 1e+21 us")));
}

}  // namespace
}  // namespace poise
