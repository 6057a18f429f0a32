// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/two_jobs.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"

#include "poise/base/error.h"

namespace poise {
namespace {

constexpr TwoJobs kOfThePaper{13, 5, 16, 1};

TEST(TwoJobs, jobs_with_13_and_5_threads_on_16_places_end_when_section_6_of_the_juggle_paper_says) {
  const TwoEnds ends = two_jobs_limit(kOfThePaper);
  EXPECT_NEAR(ends.a_s, 1.083, 5e-4);
  EXPECT_NEAR(ends.b_s, 1.217, 5e-4);
  EXPECT_NEAR(ends.used, 0.923, 2e-3);
  EXPECT_DOUBLE_EQ(ends.a_s, 13. / 12);
  EXPECT_DOUBLE_EQ(ends.b_s, 13. / 12 + 1 - 4. / 5 * 13 / 12);
}

TEST(TwoJobs, simulated_end_times_agree_with_the_closed_form_if_balancing_periods_are_short) {
  for (std::uint64_t places = 2; places <= (kSanitized ? 6 : 12); ++places)
    for (std::uint64_t a = 1; a <= places; ++a)
      for (std::uint64_t b = places - a == 0 ? 1 : places - a; b <= places; ++b) {
        SCOPED_TRACE(testing::Message() << a << " and " << b << " threads on " << places);
        const TwoJobs jobs{a, b, places, 1};
        const TwoEnds limit = two_jobs_limit(jobs), ends = simulate_two_jobs(jobs, 1e-3);
        EXPECT_NEAR(ends.a_s, limit.a_s, 2e-3);
        EXPECT_NEAR(ends.b_s, limit.b_s, 2e-3);
      }
}

TEST(TwoJobs, simulated_end_times_approach_the_closed_form_as_the_balancing_period_gets_shorter) {
  const TwoEnds limit = two_jobs_limit(kOfThePaper);
  double last_s = simulate_two_jobs(kOfThePaper, 0).b_s;
  EXPECT_DOUBLE_EQ(last_s, 2);  // a thread on a shared place takes twice as long
  for (const double period_s : {0.1, 0.01, 0.001}) {
    const TwoEnds ends = simulate_two_jobs(kOfThePaper, period_s);
    EXPECT_LE(ends.b_s, last_s + 1e-9);
    EXPECT_NEAR(ends.a_s, limit.a_s, period_s);
    EXPECT_NEAR(ends.b_s, limit.b_s, period_s);
    last_s = ends.b_s;
  }
}

TEST(TwoJobs, jobs_balanced_as_one_team_end_together_without_idle_cpus) {
  const TwoEnds ends = one_team_limit(kOfThePaper);
  EXPECT_DOUBLE_EQ(ends.a_s, 18. / 16);
  EXPECT_DOUBLE_EQ(ends.b_s, 18. / 16);
  EXPECT_DOUBLE_EQ(ends.used, 1);
}

TEST(TwoJobs,
     jobs_with_no_or_too_many_threads_or_with_fewer_threads_than_places_in_all_are_refused) {
  EXPECT_THROW(two_jobs_limit({3, 4, 8, 1}), Error);
  EXPECT_THROW(two_jobs_limit({0, 8, 8, 1}), Error);
  EXPECT_THROW(simulate_two_jobs({9, 1, 8, 1}, 1), Error);
}

}  // namespace
}  // namespace poise
