// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/settings.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

std::string error_of(const char* variable) {
  Knobs settings(setting_knobs());
  const char* const environment[] = {"HOME=/", variable, nullptr};
  try {
    apply_environment(settings, environment);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, come_from_variables_whose_names_begin_with_POISE_TASKS) {
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

TEST(Settings, refuse_a_misspelt_variable_and_name_the_nearest) {
  EXPECT_EQ(error_of("POISE_TASKS_POLCY=cost"),
            "there is no variable POISE_TASKS_POLCY; did you mean POISE_TASKS_POLICY?");
  EXPECT_EQ(error_of("POISE_TASKS_TRACES=t"),
            "there is no variable POISE_TASKS_TRACES; did you mean POISE_TASKS_TRACE?");
}

TEST(Settings, refuse_an_unknown_variable_and_list_the_known_ones) {
  EXPECT_THAT(error_of("POISE_TASKS_XYZZY=1"), HasSubstr("known variables: POISE_TASKS_POLICY, "));
}

TEST(Settings, the_error_for_a_wrong_value_names_its_variable) {
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
