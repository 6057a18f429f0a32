// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/held_results.h"

#include <gtest/gtest.h>
#include <limits>

namespace poise {
namespace {

using lending_tuning::kNewsDelay_s;
using Messages = std::vector<HeldResults<int>::Message>;

// Each rank is on a node of its own.
class HeldResultsTest : public testing::Test {
 protected:
  Messages due(bool is_idle, double now_s) { return results_.take_due(is_idle, now_s, agent_); }

  LendingAgent agent_{0,
                      8,
                      [](std::uint32_t rank) {
                        return PeerLocality{rank, std::numeric_limits<double>::infinity()};
                      },
                      {}};
  HeldResults<int> results_;
};

TEST_F(HeldResultsTest, a_busy_rank_holds_back_the_results_for_each_owner_for_a_short_time) {
  results_.add(5, 50, 0);
  results_.add(6, 60, 0.6 * kNewsDelay_s);
  results_.add(5, 51, 0.8 * kNewsDelay_s);
  EXPECT_EQ(due(false, 0.9 * kNewsDelay_s), Messages{});
  EXPECT_EQ(due(false, 1.1 * kNewsDelay_s), (Messages{{5, {50, 51}}}));
  EXPECT_EQ(results_.size(), 1);
  EXPECT_EQ(due(false, 1.7 * kNewsDelay_s), (Messages{{6, {60}}}));
  EXPECT_TRUE(results_.empty());
}

TEST_F(HeldResultsTest, an_idle_rank_also_holds_results_until_the_owner_confirms_earlier_results) {
  results_.add(5, 50, 0);
  EXPECT_EQ(due(true, 0), (Messages{{5, {50}}}));
  results_.add(5, 51, 0);
  results_.add(6, 60, 0);
  EXPECT_EQ(due(true, 1), (Messages{{6, {60}}}));
  results_.add(5, 52, 1);
  EXPECT_EQ(due(true, 2), Messages{});
  agent_.hear(5, {.confirms_results = true}, 2);
  EXPECT_EQ(due(true, 2), (Messages{{5, {51, 52}}}));
  EXPECT_FALSE(agent_.may_send_results(5));
}

TEST_F(HeldResultsTest, results_held_back_for_an_owner_are_sent_before_tasks_go_to_this_owner) {
  EXPECT_EQ(results_.take_of(5, agent_), std::vector<int>{});
  EXPECT_TRUE(agent_.may_send_results(5));
  agent_.sent_results(5);
  results_.add(5, 50, 0);
  results_.add(6, 60, 0);
  EXPECT_EQ(results_.take_of(5, agent_), std::vector<int>{50});
  EXPECT_EQ(results_.size(), 1);
}

}  // namespace
}  // namespace poise
