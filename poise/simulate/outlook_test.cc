// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/outlook.h"

#include <gmock/gmock.h>

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

TEST(Outlook, advises_reactive_balancing_if_it_saves_2_percent_and_periodic_balancing_nothing) {
  EXPECT_THAT(advice(47, 8, 0.001, 0.1, 100), HasSubstr("react when threads block: 1.02 times"));
}

TEST(Outlook,
     advises_reactive_balancing_or_pinning_if_phases_are_shorter_than_the_balancing_period) {
  EXPECT_THAT(advice(8, 7, 0.03, 0.1, 100), HasSubstr("react when threads block: 1.33 times"));
  EXPECT_THAT(advice(64, 33, 0.001, 0.1, 100), StartsWith("pin the threads: phases are too short"));
}

TEST(Outlook, the_domain_that_takes_longest_determines_the_predicted_time) {
  const Outlook two = outlook({.program = {8, 7, 1, 2}, .period_s = 0.001, .domains = 2});
  EXPECT_DOUBLE_EQ(two.static_s, 4);
  EXPECT_DOUBLE_EQ(two.ideal_s, 2 * 4.0 / 3);
  EXPECT_DOUBLE_EQ(two.reactive_s, 3);
  EXPECT_DOUBLE_EQ(two.bound_s, 2 * 4.0 / 3);
  EXPECT_NEAR(two.simulated.completion_s, 2 * 4.0 / 3, 0.004);
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
