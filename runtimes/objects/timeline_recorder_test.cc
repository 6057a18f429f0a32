// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/timeline_recorder.h"

#include <gtest/gtest.h>

#include "runtimes/objects/tuning.h"

namespace poise::objects {
namespace {

std::vector<Span> spans_of(const TimelineRecorder& recorder, PlaceId place) {
  std::vector<Span> spans;
  for (const auto& [p, span] : recorder.spans())
    if (p == place) spans.push_back(span);
  return spans;
}

TEST(TimelineRecorder, shows_a_step_as_work_followed_by_waiting_at_each_place) {
  TimelineRecorder recorder(true, {4, 5}, 100);
  recorder.add_step(101, {103, 102}, 104);
  EXPECT_EQ(spans_of(recorder, 4),
            (std::vector<Span>{{1, 3, Activity::work}, {3, 4, Activity::wait}}));
  EXPECT_EQ(spans_of(recorder, 5),
            (std::vector<Span>{{1, 2, Activity::work}, {2, 4, Activity::wait}}));
}

TEST(TimelineRecorder, shows_the_time_of_balancing_at_every_place) {
  TimelineRecorder recorder(true, {0, 1}, 0);
  recorder.add_balancing(2, 3);
  for (const PlaceId place : {0u, 1u})
    EXPECT_EQ(spans_of(recorder, place), (std::vector<Span>{{2, 3, Activity::balance}}));
}

TEST(TimelineRecorder, leaves_out_activities_that_took_no_time) {
  TimelineRecorder recorder(true, {0}, 0);
  recorder.add_step(1, {1}, 2);
  EXPECT_EQ(spans_of(recorder, 0), (std::vector<Span>{{1, 2, Activity::wait}}));
}

TEST(TimelineRecorder, is_incomplete_once_spans_beyond_the_limit_were_left_out) {
  TimelineRecorder recorder(true, {0}, 0);
  for (std::size_t i = 0; i < tuning::kMaxTimelineSpans; ++i) recorder.add_balancing(2, 3);
  EXPECT_TRUE(recorder.is_complete());
  recorder.add_balancing(2, 3);
  EXPECT_FALSE(recorder.is_complete());
  EXPECT_EQ(recorder.spans().size(), tuning::kMaxTimelineSpans);
}

TEST(TimelineRecorder, records_nothing_if_it_is_disabled) {
  TimelineRecorder recorder(false, {0}, 0);
  recorder.add_step(1, {2}, 3);
  recorder.add_balancing(3, 4);
  EXPECT_TRUE(recorder.spans().empty());
}

}  // namespace
}  // namespace poise::objects
