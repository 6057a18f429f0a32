// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/task_overhead.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(TaskOverhead, a_loan_of_many_tasks_changes_the_estimate_more_than_a_loan_of_one_task) {
  TaskOverhead one, many;
  one.learn(1, 0, 10e-6);
  EXPECT_LT(one.seconds(0), 1.1 * TaskOverhead().seconds(0));
  for (int i = 0; i < 100; ++i) many.learn(100, 0, 50e-6);
  EXPECT_NEAR(many.seconds(0), 0.5e-6, 0.01e-6);
}

}  // namespace
}  // namespace poise
