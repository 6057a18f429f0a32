#include "poise/strategies/surroundings.h"

#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

std::vector<double> busy_s(const Problem& problem, const Placement& placement) {
  auto [busy, comm] = place_times(problem.machine, problem.workload, problem.costs, placement);
  for (PlaceId p = 0; p < busy.size(); ++p) busy[p] += comm[p];
  return busy;
}

TEST(Surroundings, predict_what_moving_the_task_makes_of_every_place) {
  const Machine machine =
      machine_from_text("node:2 numa:2 core:2 factors:10,1.5,1 byte:1e-9 speeds:1,0.5");
  const Workload workload = generate(parse_recipe("rmat:messages=20"), 60, 3).front();
  const Placement current = initial_placement("random", 60, machine.num_places(), 2);
  const Problem problem{machine, workload, current, machine.costs()};
  const BusyTimes times(machine, workload, machine.costs(), current);
  Surroundings around(problem, times);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    around.gather(t);
    for (PlaceId to = 0; to < machine.num_places(); ++to) {
      if (to == current.of(t)) continue;
      std::vector<double> predicted = busy_s(problem, current);
      for (const auto& outcome : around.try_at(to)) predicted[outcome.place] = outcome.busy_s;
      Placement moved = current;
      moved.move(t, to);
      const std::vector<double> really = busy_s(problem, moved);
      for (PlaceId p = 0; p < machine.num_places(); ++p)
        ASSERT_NEAR(predicted[p], really[p], 1e-12) << "task " << t << " to " << to << " at " << p;
    }
  }
}

}  // namespace
}  // namespace poise
