// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/phase_finder.h"

#include <gtest/gtest.h>
#include <vector>

#include "runtimes/profile/tuning.h"

#include "poise/base/random.h"

namespace poise::profile {
namespace {

using Tokens = std::vector<std::uint64_t>;

/// Tokens of at least this value represent collectives that do not synchronise the ranks.
constexpr std::uint64_t kLoose = 10'000;

/// The indices of the tokens that end an iteration.
std::vector<std::size_t> ends_in(PhaseFinder& finder, const Tokens& tokens) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (finder.add(tokens[i], tokens[i] < kLoose)) ends.push_back(i);
  return ends;
}

Tokens repeated(const Tokens& pattern, std::size_t times) {
  Tokens tokens;
  for (std::size_t i = 0; i < times; ++i)
    tokens.insert(tokens.end(), pattern.begin(), pattern.end());
  return tokens;
}

TEST(phase_finder, finds_the_iterations_of_a_loop_of_one_collective_from_the_third_iteration_on) {
  PhaseFinder finder;
  EXPECT_EQ(ends_in(finder, {7, 7, 7, 7, 7}), (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(finder.period(), 1u);
}

TEST(phase_finder, finds_the_iterations_of_a_loop_even_if_other_collectives_precede_the_loop) {
  for (std::size_t period = 1; period <= 40; ++period) {
    Tokens tokens = {1000, 1001, 1002, 1001};  // tokens of the program before its loop
    Tokens pattern;
    for (std::size_t i = 0; i < period; ++i) pattern.push_back(i);
    const Tokens loop = repeated(pattern, 20);
    tokens.insert(tokens.end(), loop.begin(), loop.end());
    PhaseFinder finder;
    const auto ends = ends_in(finder, tokens);
    EXPECT_EQ(finder.period(), period);
    ASSERT_GE(ends.size(), 10u) << period;
    for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_EQ(ends[i] - ends[i - 1], period);
  }
}

TEST(phase_finder, finds_no_iterations_in_a_random_sequence_of_collectives) {
  Random random(1);
  PhaseFinder finder;
  Tokens tokens;
  for (std::size_t i = 0; i < 3 * tuning::kMaxTokens; ++i) tokens.push_back(random.bits() % kLoose);
  EXPECT_TRUE(ends_in(finder, tokens).empty());
}

TEST(phase_finder, still_finds_the_iterations_of_a_loop_with_an_occasional_extra_collective) {
  PhaseFinder finder;
  Tokens tokens = repeated({1, 2}, 10);
  const std::size_t before = ends_in(finder, tokens).size();
  std::size_t ends = 0;
  // Adds 20 tokens of the loop and then one other token, 20 times.
  for (int output = 0; output < 20; ++output) {
    ends += ends_in(finder, repeated({1, 2}, 10)).size();
    EXPECT_FALSE(finder.add(99, true));
  }
  EXPECT_GT(before, 0u);
  EXPECT_EQ(ends, 200u);
  EXPECT_EQ(finder.period(), 2u);
}

TEST(phase_finder, an_iteration_ends_with_a_collective_that_synchronises_the_ranks) {
  const std::uint64_t reduce = kLoose, broadcast = kLoose + 1;
  PhaseFinder finder;
  EXPECT_EQ(ends_in(finder, repeated({reduce, 1, broadcast, reduce}, 6)),
            (std::vector<std::size_t>{13, 17, 21}));
}

TEST(phase_finder, ignores_a_loop_of_collectives_that_do_not_synchronise_the_ranks) {
  const std::uint64_t reduce = kLoose;
  PhaseFinder inner;
  EXPECT_TRUE(ends_in(inner, Tokens(3 * tuning::kMaxTokens, reduce)).empty());
  // Each round of the outer loop has five reductions and an allreduce.
  PhaseFinder outer;
  const auto ends = ends_in(outer, repeated({reduce, reduce, reduce, reduce, reduce, 1}, 10));
  EXPECT_EQ(outer.period(), 6u);
  ASSERT_GE(ends.size(), 6u);
  for (const std::size_t end : ends) EXPECT_EQ(end % 6, 5u);
}

TEST(phase_finder, finds_the_iterations_of_a_second_loop_that_follows_the_first_loop) {
  PhaseFinder finder;
  ends_in(finder, repeated({1, 2, 3}, 30));
  EXPECT_EQ(finder.period(), 3u);
  const auto ends = ends_in(finder, repeated({4, 5, 6, 7, 8}, 60));
  EXPECT_EQ(finder.period(), 5u);
  EXPECT_GT(ends.size(), 30u);
}

}  // namespace
}  // namespace poise::profile
