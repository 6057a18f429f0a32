// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/outlook.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>

#include "poise/base/error.h"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string advice(std::uint64_t threads, std::uint64_t places, double phase_s, double period_s,
                   std::uint64_t phases = 1) {
  return outlook({.program = {threads, places, phase_s, phases}, .period_s = period_s}).advice;
}

TEST(Outlook, advises_pinning_threads_if_balancing_gains_nothing) {
  EXPECT_THAT(advice(16, 8, 1, 0.1), StartsWith("pin the threads: every cpu has the same share"));
  EXPECT_THAT(advice(3, 8, 1, 0.1), StartsWith("pin each thread"));
  EXPECT_THAT(advice(799, 8, 1, 0.1), StartsWith("pin the threads: balancing gains 0.1% at best"));
}

TEST(Outlook, advises_proactive_balancing_if_the_balancing_period_is_much_shorter_than_a_phase) {
  EXPECT_THAT(advice(8, 7, 30, 0.1), StartsWith("balance proactively: 1.75 times"));
}

TEST(Outlook, suggests_a_shorter_balancing_period_if_the_program_then_ends_earlier) {
  EXPECT_THAT(advice(8, 7, 1, 1, 100), HasSubstr("a period of 62.5 ms or less"));
  const Outlook shorter = outlook({.program = {8, 7, 1, 100}, .period_s = 0.0625});
  EXPECT_LE(0.97 * shorter.simulated.completion_s, shorter.ideal_s);
}

TEST(Outlook,
     advises_reactive_balancing_if_it_saves_2_percent_while_periodic_balancing_saves_nothing) {
  EXPECT_THAT(advice(47, 8, 0.001, 0.1, 100), HasSubstr("react when threads block: 1.02 times"));
}

TEST(Outlook,
     advises_reactive_balancing_or_pinning_if_phases_are_shorter_than_the_balancing_period) {
  EXPECT_THAT(advice(8, 7, 0.03, 0.1, 100), HasSubstr("react when threads block: 1.33 times"));
  EXPECT_THAT(advice(64, 33, 0.001, 0.1, 100), StartsWith("pin the threads: phases are too short"));
}

TEST(Outlook, refuses_a_program_with_too_many_balancing_points_for_its_number_of_threads) {
  // With 60 million balancing points of 8 threads, each of the three simulations would take about a
  // minute.
  EXPECT_THAT(
      [] {
        outlook({.program = {8, 7, 30, 100'000}, .period_s = 0.1});
      },
      testing::ThrowsMessage<Error>(HasSubstr("would take too long to simulate")));
}

TEST(Outlook, the_domain_that_takes_longest_determines_the_predicted_time) {
  const Outlook two = outlook({.program = {8, 7, 1, 2}, .period_s = 0.001, .domains = 2});
  EXPECT_DOUBLE_EQ(two.static_s, 4);
  EXPECT_DOUBLE_EQ(two.ideal_s, 2 * 4.0 / 3);
  EXPECT_DOUBLE_EQ(two.reactive_s, 3);
  EXPECT_DOUBLE_EQ(two.bound_s, 2 * 4.0 / 3);
  EXPECT_NEAR(two.simulated.completion_s, 2 * 4.0 / 3, 0.004);
}

TEST(Outlook, the_advice_states_the_gain_and_what_share_of_the_ideal_gain_it_is) {
  const Outlook found = outlook({.program = {8, 7, 30}, .period_s = 0.1});
  const double now = 60 / found.simulated.completion_s, best = 7.0 / 4;
  EXPECT_EQ(found.advice,
            fmt::format("balance proactively: {:.2f} times as fast as pinned threads, {:.1f}% of "
                        "the ideal",
                        now, 100 * now / best));
  const Outlook slow = outlook({.program = {8, 7, 1, 100}, .period_s = 1});
  EXPECT_EQ(slow.advice,
            fmt::format("balance proactively with a period of 62.5 ms or less: up to 1.75 times as "
                        "fast as pinned threads, instead of {:.2f} at 1 s",
                        200 / slow.simulated.completion_s));
  EXPECT_THAT(advice(8, 7, 10, 10, 100), HasSubstr("a period of 625 ms or less"));
  EXPECT_THAT(advice(8, 7, 100, 100), HasSubstr(" s or less"));
}

TEST(Outlook, suggests_periods_down_to_20_ms) {
  EXPECT_THAT(advice(8, 7, 0.3, 0.64, 100), HasSubstr("with a period of 20 ms or less"));
  EXPECT_THAT(advice(8, 7, 0.3, 0.6, 100), testing::Not(HasSubstr("with a period of")));
}

// With phases of this length, a good period would be shorter than 20 ms, the shortest period that
// is ever advised.
TEST(Outlook, never_suggests_a_period_below_20_ms) {
  for (const double phase_s : {0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 1.3}) {
    const std::string text = advice(8, 7, phase_s, 0.64, 100);
    const std::size_t at = text.find("with a period of ");
    if (at == std::string::npos) continue;
    const double period_ms = std::stod(text.substr(at + 17));
    EXPECT_GE(period_ms, 20) << text;
    // The simulation confirms that the suggested period is good, and that twice this period is not.
    const auto gain = [&](double period_s) {
      const Outlook found = outlook({.program = {8, 7, phase_s, 50}, .period_s = period_s});
      return found.static_s / found.simulated.completion_s;
    };
    EXPECT_GE(gain(1e-3 * period_ms), 0.97 * 1.75) << text;
    EXPECT_LT(gain(2e-3 * period_ms), 0.97 * 1.75) << text;
  }
}

TEST(Outlook, predicts_the_times_that_the_formulas_and_the_simulations_give) {
  const OutlookQuestion question{
      .program = {9, 7, 2, 6}, .period_s = 0.3, .jitter = 0.125, .seed = 7};
  const Outlook found = outlook(question);
  EXPECT_EQ(found.static_s, static_s(question.program));
  EXPECT_EQ(found.ideal_s, ideal_s(question.program));
  EXPECT_EQ(found.reactive_s, reactive_s(question.program));
  EXPECT_EQ(found.bound_s, ideal_s(question.program));
  EXPECT_EQ(found.approximation_s, proactive_approximation_s(question.program, 0.3));
  JuggleRun run{.program = question.program, .period_s = 0.3, .jitter = 0.125, .seed = 7};
  EXPECT_EQ(found.simulated.completion_s, simulate_juggle(run).completion_s);
  run.balancing = Balancing::hybrid;
  EXPECT_EQ(found.simulated_hybrid.completion_s, simulate_juggle(run).completion_s);
  run.balancing = Balancing::proactive;
  run.redistribution = Redistribution::swaps;
  EXPECT_EQ(found.simulated_swaps.completion_s, simulate_juggle(run).completion_s);
  EXPECT_EQ(found.simulated_swaps.migrations, simulate_juggle(run).migrations);
  const Outlook one = outlook({.program = {9, 7, 2, 1}, .period_s = 3});
  EXPECT_EQ(one.bound_s, proactive_bound_s({9, 7, 2, 1}, 3));
}

TEST(Outlook, domains_without_threads_are_ignored) {
  const Outlook found = outlook({.program = {2, 5, 1, 2}, .period_s = 0.1, .domains = 5});
  EXPECT_EQ(found.static_s, 2);
  EXPECT_EQ(found.ideal_s, 2);
}

TEST(Outlook, simulated_times_are_at_least_the_lower_bound_and_at_most_the_time_without_balancing) {
  for (const std::uint64_t phases : {1u, 20u})
    for (std::uint64_t places = 2; places < 20; ++places)
      for (const double period_s : {0.1, 0.9, 3.0}) {
        SCOPED_TRACE(testing::Message() << places << " places, period " << period_s);
        const Outlook found = outlook({.program = {19, places, 1, phases}, .period_s = period_s});
        EXPECT_GE(found.simulated.completion_s, found.bound_s - 1e-9);
        EXPECT_LE(found.simulated.completion_s, found.static_s + 1e-9);
        EXPECT_GE(found.simulated_hybrid.completion_s, found.ideal_s - 1e-9);
        EXPECT_LE(found.simulated_hybrid.completion_s, found.static_s + 1e-9);
        EXPECT_LE(found.ideal_s, found.bound_s);
        EXPECT_LE(found.bound_s, found.approximation_s + 1e-9);
      }
}

TEST(Outlook, throws_if_the_period_or_the_jitter_or_the_number_of_domains_is_invalid) {
  EXPECT_THROW(outlook({.program = {8, 7, 1}, .period_s = 0}), Error);
  EXPECT_THROW(outlook({.program = {8, 7, 1}, .period_s = 1, .domains = 8}), Error);
  EXPECT_THROW(outlook({.program = {8, 7, 1}, .period_s = 1, .jitter = -1}), Error);
}

TEST(Outlook, throws_before_it_allocates_memory_for_too_many_places) {
  EXPECT_THROW(outlook({.program = {8, 1ull << 61, 1}, .period_s = 1}), Error);
}

}  // namespace
}  // namespace poise
