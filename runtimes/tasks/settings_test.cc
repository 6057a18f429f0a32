// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/settings.h"

#include <gmock/gmock.h>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const char* variable) {
  Knobs settings(setting_knobs());
  const char* const environment[] = {"HOME=/", variable, nullptr};
  return text_of_error([&] { apply_environment(settings, environment); });
}

TEST(Settings, come_from_environment_variables_whose_names_begin_with_POISE_TASKS) {
  Knobs settings(setting_knobs());
  const char* const environment[] = {"POISE_TASKS_POLICY=paired", "POISE_TASKS_PULL=0",
                                     "POISE_TASKS_TRACE=t.json", "POISE_LEND=1", nullptr};
  apply_environment(settings, environment);
  EXPECT_EQ(settings.text(), "policy=paired,pull=0");
}

TEST(Settings, accept_deprecated_names) {
  Knobs settings(setting_knobs());
  apply_program(settings, "helper=off,helper_us=10");
  EXPECT_EQ(settings.text(), "progress_thread=off,progress_us=10");
  const char* const environment[] = {"POISE_TASKS_HELPER=on", nullptr};
  apply_environment(settings, environment);
  EXPECT_EQ(settings.text(), "progress_thread=on,progress_us=10");
}

TEST(Settings, refuse_an_unknown_setting_name_in_the_program_and_suggest_the_nearest_name) {
  Knobs settings(setting_knobs());
  try {
    apply_program(settings, "polcy=cost");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("unknown setting of tasks \"polcy\"; did you mean "
                                         "\"policy\"? known: policy, pull, "));
  }
}

TEST(Settings, refuse_a_misspelt_environment_variable_and_suggest_the_nearest_name) {
  EXPECT_EQ(error_of("POISE_TASKS_POLCY=cost"),
            "unknown environment variable POISE_TASKS_POLCY; did you mean POISE_TASKS_POLICY?");
  EXPECT_EQ(error_of("POISE_TASKS_TRACES=t"),
            "unknown environment variable POISE_TASKS_TRACES; did you mean POISE_TASKS_TRACE?");
}

TEST(Settings, refuse_an_unknown_environment_variable_and_list_the_known_ones) {
  EXPECT_THAT(error_of("POISE_TASKS_XYZZY=1"), HasSubstr("known variables: POISE_TASKS_POLICY, "));
}

TEST(Settings, an_error_about_an_invalid_value_names_the_environment_variable) {
  EXPECT_EQ(error_of("POISE_TASKS_MIN_GAIN=lots"),
            "POISE_TASKS_MIN_GAIN=lots is not a number; give a number from 0 to 1");
  EXPECT_EQ(error_of("POISE_TASKS_MIN_GAIN=2"),
            "POISE_TASKS_MIN_GAIN=2 is out of range; give a number from 0 to 1");
  EXPECT_EQ(error_of("POISE_TASKS_PROGRESS_THREAD=offf"),
            "POISE_TASKS_PROGRESS_THREAD=offf is not allowed; the choices are auto, on, off; did "
            "you mean \"off\"?");
}

}  // namespace
}  // namespace poise::tasks
