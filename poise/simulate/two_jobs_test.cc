// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/two_jobs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

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

/// The times at which two jobs with phases of 1 s end, computed in small steps of time.
TwoEnds stepped(const TwoJobs& jobs, double period_s) {
  constexpr double kStep_s = 1.0 / 1024;
  const std::uint64_t shared = jobs.threads_a + jobs.threads_b - jobs.places;
  std::vector<double> rest_s[] = {std::vector<double>(jobs.threads_a, 1),
                                  std::vector<double>(jobs.threads_b, 1)};
  double end_s[2] = {0, 0};
  for (double now_s = kStep_s, point_s = period_s; end_s[0] == 0 || end_s[1] == 0;
       now_s += kStep_s) {
    const std::vector<double> before[] = {rest_s[0], rest_s[1]};
    for (std::size_t job = 0; job < 2; ++job)
      for (std::size_t seat = 0; seat < rest_s[job].size(); ++seat) {
        const bool shares = seat < shared && before[1 - job][seat] > 0;
        rest_s[job][seat] = std::max(0.0, rest_s[job][seat] - kStep_s / (shares ? 2 : 1));
      }
    for (std::size_t job = 0; job < 2; ++job)
      if (end_s[job] == 0 && *std::max_element(rest_s[job].begin(), rest_s[job].end()) == 0)
        end_s[job] = now_s;
    if (period_s == 0 || now_s < point_s) continue;
    point_s += period_s;
    for (auto& rest : rest_s) std::sort(rest.begin(), rest.end());
  }
  return {end_s[0], end_s[1], 0};
}

TEST(TwoJobs, simulated_end_times_agree_with_a_simulation_in_small_steps_for_any_period) {
  for (std::uint64_t places = 2; places <= 5; ++places)
    for (std::uint64_t a = 1; a <= places; ++a)
      for (std::uint64_t b = std::max<std::uint64_t>(1, places - a); b <= places; ++b)
        for (const double period_s : {0.0, 0.3125, 0.75, 1.25}) {
          SCOPED_TRACE(testing::Message()
                       << a << " and " << b << " threads on " << places << ", period " << period_s);
          const TwoEnds ends = simulate_two_jobs({a, b, places, 1}, period_s);
          const TwoEnds expected = stepped({a, b, places, 1}, period_s);
          EXPECT_NEAR(ends.a_s, expected.a_s, 0.01);
          EXPECT_NEAR(ends.b_s, expected.b_s, 0.01);
          EXPECT_DOUBLE_EQ(ends.used, static_cast<double>(a + b) / (static_cast<double>(places) *
                                                                    std::max(ends.a_s, ends.b_s)));
          const TwoEnds longer = simulate_two_jobs({a, b, places, 3}, 3 * period_s);
          EXPECT_DOUBLE_EQ(longer.a_s, 3 * ends.a_s);
          EXPECT_DOUBLE_EQ(longer.b_s, 3 * ends.b_s);
          EXPECT_DOUBLE_EQ(longer.used, ends.used);
        }
}

TEST(TwoJobs, the_smaller_job_may_come_first_and_phases_may_have_any_length) {
  const TwoEnds ends = two_jobs_limit({5, 13, 16, 2});
  EXPECT_DOUBLE_EQ(ends.b_s, 2 * 13. / 12);
  EXPECT_DOUBLE_EQ(ends.a_s, 2 * (13. / 12 + 1 - 4. / 5 * 13 / 12));
  EXPECT_DOUBLE_EQ(ends.used, 2 * 18 / (16 * ends.a_s));
  EXPECT_DOUBLE_EQ(one_team_limit({5, 13, 16, 3}).a_s, 3 * 18. / 16);
  EXPECT_DOUBLE_EQ(two_jobs_limit({4, 4, 8, 3}).a_s, 3) << "they share no place";
}

TEST(TwoJobs, on_p_places_each_job_needs_1_to_p_threads_and_both_jobs_together_at_least_p) {
  for (const TwoJobs& jobs : {TwoJobs{8, 1, 8}, {1, 8, 8}, {4, 4, 8}, {8, 8, 8}, {1, 7, 8}})
    EXPECT_NO_THROW(two_jobs_limit(jobs)) << jobs.threads_a << ", " << jobs.threads_b;
  for (const TwoJobs& jobs : {TwoJobs{9, 1, 8}, {1, 9, 8}, {8, 0, 8}, {0, 8, 8}, {4, 3, 8}}) {
    EXPECT_THROW(two_jobs_limit(jobs), Error) << jobs.threads_a << ", " << jobs.threads_b;
    EXPECT_THROW(simulate_two_jobs(jobs, 1), Error) << jobs.threads_a << ", " << jobs.threads_b;
    EXPECT_THROW(one_team_limit(jobs), Error) << jobs.threads_a << ", " << jobs.threads_b;
  }
}

TEST(TwoJobs,
     jobs_are_refused_on_p_places_if_one_has_0_or_over_p_threads_or_both_together_have_under_p) {
  EXPECT_THROW(two_jobs_limit({3, 4, 8, 1}), Error);
  EXPECT_THROW(two_jobs_limit({0, 8, 8, 1}), Error);
  EXPECT_THROW(simulate_two_jobs({9, 1, 8, 1}, 1), Error);
}

}  // namespace
}  // namespace poise
