// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/settings.h"

#include <gmock/gmock.h>
#include <map>

namespace poise::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Settings read(const std::map<std::string, std::string>& variables) {
  return read_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Settings, unset_and_empty_variables_change_nothing) {
  const Settings none = read({});
  EXPECT_TRUE(none.output.empty());
  EXPECT_EQ(none.reorder, Settings::Reorder::off);
  const Settings empty =
      read({{"POISE_PROFILE", "f"}, {"POISE_PROFILE_PERIOD_NS", ""}, {"POISE_REORDER", ""}});
  EXPECT_EQ(empty.period_ns, 0);
  EXPECT_EQ(empty.reorder, Settings::Reorder::off);
  EXPECT_THAT(empty.notes, IsEmpty());
}

TEST(Settings, valid_values_are_applied) {
  const Settings given = read({{"POISE_PROFILE", "f"},
                               {"POISE_PROFILE_PERIOD_NS", "2000000000"},
                               {"POISE_REORDER", "verbose"},
                               {"POISE_REORDER_MACHINE", "m"}});
  EXPECT_EQ(given.period_ns, 2'000'000'000);
  EXPECT_EQ(given.reorder, Settings::Reorder::verbose);
  EXPECT_EQ(given.machine, "m");
  EXPECT_THAT(given.notes, IsEmpty());
}

TEST(Settings, for_an_invalid_value_there_is_one_message_and_the_default_applies) {
  for (const char* text : {"1", "-1", "2s", " 20000000", "1e9", "99999999999999999999", "nan"}) {
    const Settings wrong = read({{"POISE_PROFILE", "f"}, {"POISE_PROFILE_PERIOD_NS", text}});
    EXPECT_EQ(wrong.period_ns, 0) << text;
    EXPECT_THAT(wrong.notes, ElementsAre(HasSubstr("POISE_PROFILE_PERIOD_NS=" + std::string(text) +
                                                   " is not 0 or a number of nanoseconds")));
  }
  for (const char* text : {"yes", "2", "Verbose", "1 "}) {
    const Settings wrong = read({{"POISE_REORDER", text}});
    EXPECT_EQ(wrong.reorder, Settings::Reorder::off) << text;
    EXPECT_THAT(wrong.notes, ElementsAre("POISE_REORDER=" + std::string(text) +
                                         " is not one of 0, 1, verbose; no ranks are reordered"));
  }
}

TEST(Settings, an_invalid_phase_length_is_not_reported_if_no_profile_is_written) {
  EXPECT_THAT(read({{"POISE_PROFILE_PERIOD_NS", "often"}}).notes, IsEmpty());
}

}  // namespace
}  // namespace poise::profile
