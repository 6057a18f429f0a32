// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/timeline_pictures.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <regex>

namespace poise::apps {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns the total area of the rectangles in the SVG path with this class.
double area_of(const std::string& svg, const std::string& style) {
  double area = 0;
  const std::regex path("<path class=\"" + style + "\" d=\"([^\"]*)\"");
  const std::regex box("h(\\d+)v([0-9.]+)h");
  for (std::sregex_iterator p(svg.begin(), svg.end(), path), end; p != end; ++p) {
    const std::string boxes = (*p)[1];
    for (std::sregex_iterator b(boxes.begin(), boxes.end(), box); b != end; ++b)
      area += std::atof((*b)[1].str().c_str()) * std::atof((*b)[2].str().c_str());
  }
  return area;
}

Timeline run() {
  return {"app, strategy s",
          {{{0, 3, Activity::work}, {3, 4, Activity::wait}, {4, 5, Activity::balance}},
           {{0, 1, Activity::work}, {1, 4, Activity::wait}, {4, 5, Activity::balance}}}};
}

TEST(TimelinePicture, drawn_areas_are_proportional_to_times) {
  const std::string picture = timeline_picture(run(), 10, "label");
  const double second = area_of(picture, "work") / 4;
  EXPECT_GT(second, 0);
  EXPECT_NEAR(area_of(picture, "idle"), 4 * second, 0.05 * second);
  EXPECT_NEAR(area_of(picture, "deciding"), 2 * second, 0.05 * second);
  EXPECT_NEAR(area_of(timeline_picture(run(), 5, ""), "work"), 8 * second, 0.05 * second);
}

TEST(TimelinePicture, places_are_labelled_with_their_names) {
  Timeline timeline = run();
  EXPECT_THAT(timeline_picture(timeline, 10, ""), AllOf(HasSubstr(">1<"), Not(HasSubstr("<g "))));
  timeline.names = {"rank 0, thread 0", "rank 0, thread 1"};
  const std::string picture = timeline_picture(timeline, 10, "");
  EXPECT_THAT(picture, AllOf(HasSubstr(">rank 0, thread 1<"), HasSubstr("translate(70 0)"),
                             HasSubstr("viewBox=\"0 0 866 ")));
}

TEST(TimelinePicture, steps_shorter_than_one_pixel_are_averaged_in_their_pixel_column) {
  Timeline fine;
  fine.places.emplace_back();
  for (int i = 0; i < 20000; ++i) {
    fine.places[0].push_back({i * 1.0, i + 0.75, Activity::work});
    fine.places[0].push_back({i + 0.75, i + 1.0, Activity::wait});
  }
  const std::string picture = timeline_picture(fine, 20000, "label");
  EXPECT_NEAR(area_of(picture, "work"), 3 * area_of(picture, "idle"),
              0.05 * area_of(picture, "work"));
  EXPECT_LT(picture.size(), 20000u);
}

TEST(TimelinePicture, draws_the_first_of_many_places_and_states_how_many_are_left_out) {
  Timeline wide{"wide", std::vector<std::vector<Span>>(500, {{0, 1, Activity::work}})};
  EXPECT_THAT(timelines_html({wide}), HasSubstr("the first 128 of 500 places"));
}

TEST(SharesPicture,
     shows_all_places_and_marks_the_busiest_place_of_each_bar_that_represents_several_places) {
  Timeline wide{"wide", std::vector<std::vector<Span>>(
                            1000, {{0, 1, Activity::work}, {1, 4, Activity::wait}})};
  wide.places.back() = {{0, 4, Activity::work}};
  const std::string picture = shares_picture(wide, "label");
  EXPECT_THAT(picture, HasSubstr("place 992 to place 999 work 34% of the time on average, the "
                                 "busiest 100%"));
  EXPECT_THAT(picture, HasSubstr("place (bar: the mean of 8; line: the busiest)"));
  const std::regex label("class=\"faint\">[0-9]+<"), peak("class=\"peak\"");
  EXPECT_LE(std::distance(std::sregex_iterator(picture.begin(), picture.end(), label), {}), 9);
  EXPECT_EQ(std::distance(std::sregex_iterator(picture.begin(), picture.end(), peak), {}), 125);
}

TEST(SharesPicture, bars_have_the_names_of_places_if_these_are_short) {
  Timeline timeline = run();
  timeline.names = {"cpu 4", "cpu 7"};
  EXPECT_THAT(shares_picture(timeline, ""), HasSubstr(">cpu 7</text>"));
  timeline.names = {"rank 0, thread 0", "rank 0, thread 1"};
  EXPECT_THAT(shares_picture(timeline, ""), AllOf(HasSubstr(">1</text>"), Not(HasSubstr(">rank")),
                                                  HasSubstr(">row in the timeline (first: 0)<")));
}

TEST(Timelines, work_percentages_leave_out_the_time_before_the_first_record) {
  Timeline late{"threads", {{{6, 10, Activity::work}}, {}}, {"cpu 0", "cpu 1"}};
  EXPECT_THAT(timelines_html({late}),
              HasSubstr("from 6.000 s on, the busiest place works 100% of the time, the average "
                        "50%"));
}

TEST(Timelines, work_percentages_cover_only_the_time_after_the_last_decision) {
  Timeline after = run();
  after.places[0].push_back({5, 7, Activity::work});
  after.places[1].push_back({5, 6, Activity::work});
  EXPECT_THAT(timelines_html({after}),
              HasSubstr("from 5.000 s on, the busiest place works 100% of the time, the average "
                        "75%"));
  EXPECT_THAT(timelines_html({run()}),
              HasSubstr("</b>: the busiest place works 60% of the time, the average 40%"));
}

TEST(Timelines, titles_of_runs_are_HTML_escaped_and_the_page_is_empty_if_there_are_no_runs) {
  EXPECT_EQ(timelines_html({}), "");
  EXPECT_THAT(timelines_html({{"<b>", {}}}), AllOf(HasSubstr("&lt;b&gt;"), Not(HasSubstr("nan"))));
}

}  // namespace
}  // namespace poise::apps
