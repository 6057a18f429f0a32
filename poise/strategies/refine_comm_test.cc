// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

struct Example {
  Machine machine;
  Workload workload;
  Placement current;

  Placement refined(const char* strategy = "refine_comm") const {
    return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
  }
  double iteration_s(const Placement& placed) const {
    return evaluate(machine, workload, machine.costs(), current, placed).iteration_s;
  }
};

Example example(const char* machine, const std::vector<double>& loads_s,
                std::vector<PlaceId> places) {
  Example made{machine_from_text(machine), {}, Placement(std::move(places))};
  for (const double load_s : loads_s) made.workload.tasks.push_back({load_s});
  return made;
}

TEST(RefineComm, moves_a_task_to_the_place_of_its_communication_partner) {
  Example ring = example("core:3 message:0.25", {3, 3, 3, 2, 1}, {0, 0, 0, 1, 2});
  ring.workload.messages = {{1, 3, 2, 0}, {3, 1, 2, 0}};
  // Place 0 is busy for 9.5 s: 9 s of work, and two messages of 0.25 s each. The average work of a
  // place is 4 s. The lowest threshold that can be reached is 6 s.
  const Placement placed = ring.refined();
  EXPECT_EQ(placed.of(1), 1u);
  EXPECT_LT(ring.iteration_s(placed), 6.1);
}

TEST(RefineComm, moves_tasks_to_the_distant_places_from_which_they_receive_messages) {
  // Tasks 1 and 2 must leave place 0. Each receives a message from one task; the two senders are on
  // places 2 and 3 of the other node.
  Example far = example("node:2 core:2 factors:100,1 message:0.01", {1, 1, 1, 1, 1, 1, 1, 1},
                        {0, 0, 0, 0, 1, 1, 2, 3});
  far.workload.tasks[0].movable = far.workload.tasks[3].movable = false;
  far.workload.messages = {{6, 1, 1, 0}, {7, 2, 1, 0}};
  const Placement placed = far.refined();
  EXPECT_EQ(placed.of(1), 2u);
  EXPECT_EQ(placed.of(2), 3u);
  EXPECT_EQ(far.iteration_s(placed), 2);
}

TEST(RefineComm, shortens_the_iteration_or_moves_nothing) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const char* machines[] = {"core:4", "node:2 numa:2 core:3 factors:10,2,1 byte:1e-3",
                              "torus:3x2 numa:2 core:2 factors:10,2,1 message:0.02",
                              "node:3 core:3 factors:50,1 message:0.1 speeds:1,0.5,2"};
    Example drawn{machine_from_text(machines[seed % 4]), {}, Placement(90)};
    for (TaskId t = 0; t < 90; ++t) {
      drawn.workload.tasks.push_back({.load_s = random.uniform(), .movable = random.below(9) != 0});
      const auto place = random.below(drawn.machine.num_places());
      drawn.current.move(t, static_cast<PlaceId>(random.below(place + 1)));
      for (std::uint64_t m = random.below(5); m > 0; --m)
        drawn.workload.messages.push_back(
            {t, static_cast<TaskId>(random.below(90)), random.below(4), random.below(100)});
    }
    const Placement placed = drawn.refined();
    if (placed == drawn.current) continue;
    EXPECT_LT(drawn.iteration_s(placed), drawn.iteration_s(drawn.current));
  }
}

TEST(RefineComm, gives_a_shorter_stencil_iteration_than_refine) {
  Random random(1);
  Example grid{machine_from_text("node:4 numa:2 core:4 factors:20,2,1 message:3e-4"), {}, {}};
  constexpr TaskId kSide = 48;
  for (TaskId t = 0; t < kSide * kSide; ++t) {
    const TaskId x = t % kSide, y = t / kSide;
    const double hot = x < kSide / 2 && y < kSide / 2 ? 3 : 1;
    grid.workload.tasks.push_back({0.01 * hot * random.uniform(0.5, 1.5)});
    if (x > 0) grid.workload.messages.push_back({t, t - 1, 1, 0});
    if (x + 1 < kSide) grid.workload.messages.push_back({t, t + 1, 1, 0});
    if (y > 0) grid.workload.messages.push_back({t, t - kSide, 1, 0});
    if (y + 1 < kSide) grid.workload.messages.push_back({t, t + kSide, 1, 0});
  }
  grid.current = blocked(grid.workload.num_tasks(), 32);
  EXPECT_LT(grid.iteration_s(grid.refined()), grid.iteration_s(grid.refined("refine")));
}

}  // namespace
}  // namespace poise
