// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/knobs.h"

#include <gmock/gmock.h>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"

namespace poise {
namespace {

constexpr std::string_view kColours[] = {"red", "green"};
constexpr Knob kKnobs[] = {{"alpha", 1e-5, 0, 1, "a weight"},
                           {"colour", 0, 0, 1, "a choice", kColours},
                           whole({"count", 1, 0, 9, "a whole number"})};

std::string error_of(std::string_view settings) {
  return text_of_error([&] { Knobs(kKnobs).set_all("strategy x", settings); });
}

TEST(Knobs, every_knob_starts_at_its_default_value_and_is_written_as_text_only_if_changed) {
  const Knobs knobs(kKnobs);
  EXPECT_EQ(knobs["alpha"], 1e-5);
  EXPECT_EQ(knobs.choice("colour"), "red");
  EXPECT_EQ(knobs.text(), "");
}

TEST(Knobs, are_unchanged_after_writing_and_reading_their_text) {
  Knobs knobs(kKnobs);
  knobs.set_all("strategy x", "colour=green,alpha=0.25");
  EXPECT_EQ(knobs.text(), "alpha=0.25,colour=green");
  Knobs again(kKnobs);
  again.set_all("strategy x", knobs.text());
  EXPECT_EQ(again["alpha"], 0.25);
  EXPECT_EQ(again.choice("colour"), "green");
}

TEST(Knobs, refuse_wrong_values_with_an_error_that_says_which_values_would_work) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of("alpa=1"), HasSubstr("did you mean \"alpha\""));
  EXPECT_THAT(error_of("alpha=2"),
              HasSubstr("strategy x: alpha=2 is out of range; give a number from 0"));
  for (const char* text : {"nan", "much", "1x", ""})
    EXPECT_THAT(error_of(std::string("alpha=") + text),
                HasSubstr("is not a number; give a number from 0"));
  EXPECT_THAT(error_of("colour=gren"), HasSubstr("did you mean \"green\""));
  EXPECT_THAT(error_of("alpha"), HasSubstr("KNOB=VALUE"));
  EXPECT_THAT(error_of("count=1,alpha=1,count=2"), HasSubstr("strategy x: count is set twice"));
  EXPECT_EQ(error_of("count=2e0"), "no error");
  EXPECT_THAT(error_of("count=2.5"), HasSubstr("is not a whole number; give one from 0 to 9"));
}

constexpr Knob kTuning[] = {{"noise", 3, 0, 10, "a tuned number"},
                            {"patience", 5, 1, 7, "another tuned number"}};

TEST(Knobs, tuning_parameters_are_set_by_name_and_returned_together_in_the_order_of_their_table) {
  Knobs knobs(kKnobs, kTuning);
  ASSERT_EQ(knobs.tuning_values().size(), 2u);
  EXPECT_EQ(knobs.tuning_values()[0], 3);
  EXPECT_EQ(knobs.tuning_values()[1], 5);
  knobs.set_all("strategy x", "patience=2,count=4,noise=7");
  EXPECT_EQ(knobs.tuning_values()[0], 7);
  EXPECT_EQ(knobs.tuning_values()[1], 2);
  EXPECT_EQ(knobs["count"], 4);
  EXPECT_EQ(knobs["noise"], 7);
  EXPECT_EQ(knobs["patience"], 2);
  EXPECT_EQ(knobs["alpha"], 1e-5);
  EXPECT_EQ(knobs.text(), "count=4,noise=7,patience=2");
  knobs.set("strategy x", "noise", "3");
  EXPECT_EQ(knobs.text(), "count=4,patience=2");
}

TEST(Knobs, both_ends_of_a_range_are_allowed_values) {
  for (const char* settings : {"alpha=0", "alpha=1", "count=0", "count=9", "colour=red", ""})
    EXPECT_EQ(error_of(settings), "no error") << settings;
  for (const char* settings : {"alpha=-1e-9", "alpha=1.000001", "count=10", "count=-1"})
    EXPECT_THAT(error_of(settings), testing::HasSubstr("is out of range")) << settings;
}

TEST(Knobs, setting_a_knob_of_a_strategy_without_knobs_is_an_error_that_says_so) {
  try {
    Knobs(std::span<const Knob>()).set("strategy y", "alpha", "1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "strategy y has no knobs, so \"alpha\" cannot be set");
  }
}

TEST(Knobs, asking_for_a_knob_that_does_not_exist_is_a_programming_error) {
  const Knobs knobs(kKnobs, kTuning);
  EXPECT_DEATH((void)knobs["beta"], "internal error: index < values_.size");
}

}  // namespace
}  // namespace poise
