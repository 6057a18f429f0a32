// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/communicator.h"

#include <gmock/gmock.h>

#include "poise/distributed/simulated_testing.h"

namespace poise {
namespace {

TEST(Communicator, negative_zero_counts_as_zero_in_the_maximum_and_in_the_sum_over_ranks) {
  SimulatedRanks simulated(3);
  simulated.run([](const poise_communication& table) {
    Communicator ranks(table);
    const double values[] = {-0.0, 1.0, 2.0};
    EXPECT_EQ(ranks.max(values[table.rank]), 2);
    EXPECT_NEAR(ranks.sum(values[table.rank]), 3, 1e-9);
  });
}

}  // namespace
}  // namespace poise
