// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/pair_costs.h"

#include <gtest/gtest.h>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/placement/arcs.h"
#include "poise/placement/message_times.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

/// A random machine whose costs and bandwidth factors differ from each other.
Machine drawn_machine(Random& random) {
  MachineParts parts = random_machine(random).parts();
  parts.costs.seconds_per_message = 0.5;
  parts.costs.seconds_per_byte = 0.25;
  parts.costs.inside = {1, 2, 0.125, 4, 5};
  parts.costs.network = {7, 11, 0.375, 17, 19};
  parts.network.bandwidth_factor = 3;
  if (random.below(2) == 0)
    for (Level& level : parts.levels)
      level.bandwidth_factor = 1 + 0.5 * static_cast<double>(random.below(4));
  return Machine(std::move(parts));
}

TEST(PairCosts, with_the_formula_nuco_the_receiver_bears_all_costs) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const Machine machine = drawn_machine(random);
    const PairCosts costs(machine, machine.costs(), LoadsInclude::none);
    EXPECT_FALSE(costs.senders_pay());
    const PlaceId step = 1 + machine.num_places() / 20;
    for (PlaceId from = 0; from < machine.num_places(); from += step)
      for (PlaceId to = 0; to < machine.num_places(); to += step) {
        const double expected = message_s(machine, machine.costs(), {0, 1, 3, 50}, from, to);
        EXPECT_DOUBLE_EQ(costs.receive_s(3, 50, from, to), expected);
        EXPECT_EQ(costs.send_s(3, 50, from, to), 0);
      }
    EXPECT_EQ(costs.receive_inside_s(3, 50), 3 * 0.5 + 50 * 0.25);
  }
}

TEST(PairCosts, with_the_formula_physical_both_ends_bear_the_costs_that_loads_do_not_include) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const LoadsInclude include :
         {LoadsInclude::none, LoadsInclude::send, LoadsInclude::send_and_receive}) {
      SCOPED_TRACE(seed);
      Random random(mix(seed));
      const Machine machine = with_formula(drawn_machine(random), CostFormula::physical);
      const PairCosts costs(machine, machine.costs(), include);
      EXPECT_EQ(costs.senders_pay(), include == LoadsInclude::none);
      const PlaceId step = 1 + machine.num_places() / 20;
      for (PlaceId from = 0; from < machine.num_places(); from += step)
        for (PlaceId to = 0; to < machine.num_places(); to += step) {
          const EndTimes ends = end_times(machine, machine.costs(), include, 3, 50, from, to);
          EXPECT_DOUBLE_EQ(costs.receive_s(3, 50, from, to), ends.receiver_s);
          EXPECT_DOUBLE_EQ(costs.send_s(3, 50, from, to), ends.sender_s);
        }
      EXPECT_EQ(costs.receive_inside_s(3, 50),
                include == LoadsInclude::send_and_receive ? 0 : 3 * 2 + 50 * 0.125);
      EXPECT_EQ(costs.send_inside_s(3, 50), include == LoadsInclude::none ? 3 * 1 + 50 * 0.125 : 0);
    }
}

TEST(PairCosts,
     the_function_both_ways_gives_the_sums_of_send_and_receive_costs_of_both_directions) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical}) {
      SCOPED_TRACE(seed);
      Random random(mix(seed));
      const Machine machine = with_formula(drawn_machine(random), formula);
      const PairCosts costs(machine, machine.costs(), LoadsInclude::none);
      const Arc arc{.task = 0, .in = 3, .out = 0, .in_bytes = 50, .out_bytes = 7};
      const PlaceId step = 1 + machine.num_places() / 20;
      for (PlaceId own = 0; own < machine.num_places(); own += step)
        for (PlaceId other = 0; other < machine.num_places(); other += step) {
          const PairCosts::BothWays both = costs.both_ways(own, other);
          EXPECT_EQ(both.own_s(arc),
                    costs.receive_s(3, 50, other, own) + costs.send_s(0, 7, own, other));
          EXPECT_EQ(both.others_s(arc),
                    costs.receive_s(0, 7, own, other) + costs.send_s(3, 50, other, own));
        }
    }
}

}  // namespace
}  // namespace poise
