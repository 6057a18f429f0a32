// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "poise/base/error.h"

namespace poise::chameleon {
namespace {

std::string settings_with(const std::map<std::string, const char*>& variables) {
  return settings_of([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second;
  });
}

TEST(Settings, are_empty_if_no_environment_variable_is_set) { EXPECT_EQ(settings_with({}), ""); }

TEST(Settings, each_threshold_variable_of_chameleon_becomes_a_setting_of_the_policy_called_paired) {
  EXPECT_EQ(settings_with({{"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", "10"}}),
            "policy=paired,max_tasks=10");
  EXPECT_EQ(settings_with({{"MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION", "4"},
                           {"MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION", "3"},
                           {"MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION", "0.2"},
                           {"PERCENTAGE_DIFF_TASKS_TO_MIGRATE", "0.25"}}),
            "policy=paired,min_local=4,min_absolute=3,min_relative=0.2,share=0.25");
}

TEST(Settings, a_threshold_that_can_never_be_reached_turns_task_migration_off) {
  EXPECT_EQ(settings_with({{"MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION", "1e30"}}), "policy=none");
  EXPECT_EQ(settings_with({{"MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION", "1.5"}}), "policy=none");
  EXPECT_EQ(settings_with({{"MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION", "99999999999"}}),
            "policy=none");
  EXPECT_EQ(settings_with({{"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", "0"}}), "policy=none");
}

TEST(Settings, replace_values_above_the_allowed_maximum_by_the_maximum) {
  EXPECT_EQ(settings_with({{"PERCENTAGE_DIFF_TASKS_TO_MIGRATE", "50"}}), "policy=paired,share=1");
  EXPECT_EQ(settings_with({{"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", "1e12"}}),
            "policy=paired,max_tasks=1000000000");
}

TEST(Settings, the_error_names_a_variable_whose_value_is_negative_or_not_a_number) {
  for (const char* const wrong : {"much", "", "-1", "2 tasks", "nan"}) {
    try {
      settings_with({{"PERCENTAGE_DIFF_TASKS_TO_MIGRATE", wrong}});
      ADD_FAILURE() << wrong << " is taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("PERCENTAGE_DIFF_TASKS_TO_MIGRATE="));
    }
  }
}

}  // namespace
}  // namespace poise::chameleon
