// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/sweep.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Sweep, option_values_may_be_lists_and_ranges_of_numbers) {
  EXPECT_THAT(parse_counts("--every", "5,10,20", 1), ElementsAre(5, 10, 20));
  EXPECT_THAT(parse_counts("--seed", "0..3,9,2", 0), ElementsAre(0, 1, 2, 3, 9));
  EXPECT_THAT(parse_counts("--seed", "18446744073709551614..18446744073709551615", 0),
              ElementsAre(~std::uint64_t{1}, ~std::uint64_t{0}));
  for (const char* wrong : {"", "x", "1,,2", "0", "3..1", "1..", "1..99999999", "-1", "1.5"})
    EXPECT_THAT([&] { parse_counts("--every", wrong, 1); },
                ThrowsMessage<Error>(HasSubstr("--every")))
        << wrong;
}

TEST(Sweep, default_balancing_periods_are_1_2_5_10_20_and_so_on_below_the_number_of_steps) {
  EXPECT_THAT(usual_periods(100), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(usual_periods(1), ElementsAre(1));
}

TEST(Sweep, changes_the_first_number_of_a_machine_text_to_reach_the_wanted_number_of_places) {
  EXPECT_EQ(with_places("node:4 core:8 factors:2,1", 64), "node:8 core:8 factors:2,1");
  EXPECT_EQ(with_places("core:8", 3), "core:3");
  EXPECT_THAT([] { with_places("node:4 core:8", 12); },
              ThrowsMessage<Error>(HasSubstr("multiple of 8")));
  EXPECT_THAT([] { with_places("NUMA32", 12); }, ThrowsMessage<Error>(HasSubstr("machine text")));
}

Simulation simulated(std::uint64_t every, std::uint64_t seed) {
  Trace trace;
  trace.phases.resize(1);
  trace.phases[0].workload.tasks.assign(4, {1, 1'000'000'000});
  const Replayer replayer(trace, flat_machine(2), Placement(4),
                          {.steps = 4, .every = every, .seed = seed});
  Simulation simulation = begin_simulation(replayer);
  add_row(simulation, replayer, contender_of(parse_strategy("greedy")), 0.25);
  return simulation;
}

TEST(Sweep, finds_the_balancing_period_with_the_shortest_median_run_time) {
  Sweep sweep{.seeds = {1, 2}, .rows = {}};
  for (const std::uint64_t every : {1, 2, 3})
    for (const std::uint64_t seed : sweep.seeds) add_to(sweep, simulated(every, seed), 2);
  ASSERT_EQ(sweep.rows.size(), 4u);  // one row without balancing, one for each of three periods
  for (const SweepRow& row : sweep.rows) EXPECT_EQ(row.total_s.size(), 2u);
  const SweepRow& best = sweep.best(2);
  // At first, one of the two places has all tasks, which are 4 s of work. The shortest run consists
  // of one step of 4 s, three steps of 2 s, three decisions of 0.25 s, and migrations of 2 s in
  // total.
  EXPECT_EQ(best.every, 1u);
  EXPECT_EQ(median(best.total_s), 4 + 3 * 2 + 2 + 3 * 0.25);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace poise::apps
