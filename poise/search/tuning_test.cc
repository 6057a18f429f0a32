// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/tuning.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace poise {
namespace {

TEST(Tuning, every_tuning_parameter_is_in_its_allowed_range_and_has_a_unique_name) {
  std::set<std::string_view> names;
  for (const Knob& knob : kTuningKnobs) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name;
    EXPECT_LE(knob.min, knob.initial) << knob.name;
    EXPECT_GE(knob.max, knob.initial) << knob.name;
    EXPECT_FALSE(knob.help.empty()) << knob.name;
  }
}

TEST(Tuning, setting_one_tuning_parameter_by_its_name_leaves_the_others_at_their_defaults) {
  Knobs knobs({}, kTuningKnobs);
  knobs.set("test", "same_total", "0.5");
  knobs.set("test", "max_scans", "123456");
  const Tuning tuning = tuning_from(knobs.tuning_values());
  EXPECT_EQ(tuning.same_total, 0.5);
  EXPECT_EQ(tuning.max_scans, 123456u);
  EXPECT_EQ(tuning.trials, kTuning.trials);
  EXPECT_EQ(knobs.text(), "same_total=0.5,max_scans=123456");
}

TEST(Tuning, if_no_values_are_given_all_tuning_parameters_have_their_defaults) {
  EXPECT_EQ(tuning_from({}).blunt_exponent, kTuning.blunt_exponent);
}

}  // namespace
}  // namespace poise
