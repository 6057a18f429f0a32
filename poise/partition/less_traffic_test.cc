// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/less_traffic.h"

#include <gtest/gtest.h>

#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/search/tuning.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

TEST(WithLessTraffic, lowers_message_time_and_keeps_the_balance) {
  const Machine machine = machine_from_text("node:2 core:4 factors:10,1");
  for (const char* recipe : {"stencil2d", "geometric", "leanmd"}) {
    SCOPED_TRACE(recipe);
    Workload workload = generate(parse_recipe(recipe), 1200, 3).front();
    for (TaskId t = 0; t < workload.num_tasks(); t += 7) workload.tasks[t].movable = false;
    const Placement current = initial_placement("random", workload.num_tasks(), 8, 1);
    const Placement less =
        with_less_traffic({machine, workload, current, machine.costs(), 1}, current);
    EXPECT_LT(evaluate(machine, workload, machine.costs(), current, less).nuco_messages,
              0.9 * evaluate(machine, workload, machine.costs(), current, current).nuco_messages);
    const std::vector<double> before_s = work_s(machine, workload, current);
    const std::vector<double> after_s = work_s(machine, workload, less);
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      EXPECT_LE(after_s[p], (1.000001 + kTuning.tolerance) * before_s[p]) << "place " << p;
    for (TaskId t = 0; t < workload.num_tasks(); t += 7) EXPECT_EQ(less.of(t), current.of(t));
  }
}

}  // namespace
}  // namespace poise
