// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/timeline.h"

#include <cstdio>
#include <gmock/gmock.h>
#include <unistd.h>

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class TimelineTest : public testing::Test {
 protected:
  ~TimelineTest() override { std::remove(path_.c_str()); }
  std::string path_ = testing::TempDir() + "timeline_" + std::to_string(::getpid()) + ".json";
};

Timeline two_places() {
  return {"a \"run\"",
          {{{0, 0.5, Activity::work}, {0.5, 0.75, Activity::wait}, {1, 1.25, Activity::balance}},
           {{0.25, 2, Activity::work}}}};
}

TEST_F(TimelineTest, is_unchanged_after_writing_and_reading) {
  write_timeline(two_places(), path_);
  const Timeline read = read_timeline(path_);
  EXPECT_EQ(read.title, two_places().title);
  EXPECT_EQ(read.places, two_places().places);
}

TEST_F(TimelineTest, adds_up_the_times_of_each_activity_of_a_place) {
  EXPECT_EQ(end_s(two_places()), 2);
  EXPECT_EQ(end_s({}), 0);
  EXPECT_THAT(seconds_of(two_places().places[0]), testing::ElementsAre(0.5, 0.25, 0.25));
}

TEST_F(TimelineTest, refuses_invalid_files_and_says_why) {
  const auto trouble_of = [&](const std::string& text) {
    write_file(path_, text);
    return [this] { read_timeline(path_); };
  };
  const auto place = [](const std::string& spans) {
    return "{\"poise_timeline\":1,\"title\":\"\",\"places\":[[],[" + spans + "]]}";
  };
  EXPECT_THAT(trouble_of("{}"), ThrowsMessage<Error>(HasSubstr("it is not a timeline")));
  EXPECT_THAT(trouble_of("{\"poise_ti"), ThrowsMessage<Error>(HasSubstr("it is not a timeline")));
  EXPECT_THAT(trouble_of(place("[0,1]")),
              ThrowsMessage<Error>(HasSubstr("place 1: a span must have the form")));
  EXPECT_THAT(trouble_of(place("[0,1,3]")),
              ThrowsMessage<Error>(HasSubstr("3 is not the number of an activity")));
  EXPECT_THAT(trouble_of(place("[0,1,256]")),
              ThrowsMessage<Error>(HasSubstr("256 is not the number of an activity")));
  EXPECT_THAT(trouble_of(place("[2,1,0]")), ThrowsMessage<Error>(HasSubstr("from 2 to 1 s")));
  EXPECT_THAT(trouble_of(place("[-1,1,0]")), ThrowsMessage<Error>(HasSubstr("from -1 to 1 s")));
  EXPECT_THAT(trouble_of(place("[0,2,0],[1,3,1]")), ThrowsMessage<Error>(HasSubstr("overlap")));
}

}  // namespace
}  // namespace poise
