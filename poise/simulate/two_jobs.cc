// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/two_jobs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "poise/base/error.h"

namespace poise {

namespace {

// If the remaining work is below this fraction of a phase, it is a rounding error.
constexpr double kRounding = 1e-12;

double number(std::uint64_t count) { return count; }

std::uint64_t shared_places(const TwoJobs& jobs) {
  return jobs.threads_a + jobs.threads_b - jobs.places;
}

void check(const TwoJobs& jobs) {
  const std::uint64_t least = std::min(jobs.threads_a, jobs.threads_b);
  const std::uint64_t most = std::max(jobs.threads_a, jobs.threads_b);
  if (least == 0 || most > jobs.places || jobs.threads_a + jobs.threads_b < jobs.places)
    fail(
        "two programs have {} and {} threads on {} cpus; each program must have from 1 to {} "
        "threads, and both programs together must have at least {} threads",
        jobs.threads_a, jobs.threads_b, jobs.places, jobs.places, jobs.places);
}

TwoEnds with_use(const TwoJobs& jobs, double a_s, double b_s) {
  const double work_s = number(jobs.threads_a + jobs.threads_b) * jobs.phase_s;
  return {a_s, b_s, work_s / (number(jobs.places) * std::max(a_s, b_s))};
}

/// One of the two programs. The first `shared` threads in `order` are on shared places. Each shares
/// its place with the thread at the same position in the `order` of the other program.
struct Job {
  std::vector<double> rest_s;
  std::vector<std::size_t> order;
  double end_s = 0;

  Job(std::uint64_t threads, double phase_s) : rest_s(threads, phase_s), order(threads) {
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  bool is_done() const {
    return std::all_of(rest_s.begin(), rest_s.end(), [](double rest) { return rest <= 0; });
  }
  double rest_at(std::size_t seat) const { return rest_s[order[seat]]; }
  /// Moves the most advanced threads to the shared places.
  void balance() {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rest_s[a] < rest_s[b]; });
  }
};

double rate(const Job& job, const Job& other, std::size_t seat, std::uint64_t shared) {
  if (job.rest_at(seat) <= 0) return 0;
  return seat < shared && other.rest_at(seat) > 0 ? 0.5 : 1;
}

/// Seconds until a thread of `job` is done.
double next_end_s(const Job& job, const Job& other, std::uint64_t shared) {
  double soonest_s = std::numeric_limits<double>::infinity();
  for (std::size_t seat = 0; seat < job.order.size(); ++seat)
    if (const double speed = rate(job, other, seat, shared); speed > 0)
      soonest_s = std::min(soonest_s, job.rest_at(seat) / speed);
  return soonest_s;
}

std::vector<double> rates(const Job& job, const Job& other, std::uint64_t shared) {
  std::vector<double> rates;
  for (std::size_t seat = 0; seat < job.order.size(); ++seat)
    rates.push_back(rate(job, other, seat, shared));
  return rates;
}

void advance(Job& job, const std::vector<double>& rates, double step_s, double now_s,
             double rounding_s) {
  if (job.is_done()) return;
  for (std::size_t seat = 0; seat < rates.size(); ++seat) {
    double& rest_s = job.rest_s[job.order[seat]];
    rest_s -= rates[seat] * step_s;
    if (rest_s < rounding_s) rest_s = 0;
  }
  if (job.is_done()) job.end_s = now_s;
}

}  // namespace

TwoEnds two_jobs_limit(const TwoJobs& jobs) {
  check(jobs);
  const double shared = number(shared_places(jobs));
  const double rate_a = 1 - shared / (2 * number(jobs.threads_a));
  const double rate_b = 1 - shared / (2 * number(jobs.threads_b));
  const double first_s = jobs.phase_s / std::max(rate_a, rate_b);
  const double second_s = first_s + jobs.phase_s - std::min(rate_a, rate_b) * first_s;
  return rate_a >= rate_b ? with_use(jobs, first_s, second_s) : with_use(jobs, second_s, first_s);
}

TwoEnds simulate_two_jobs(const TwoJobs& jobs, double period_s) {
  check(jobs);
  const std::uint64_t shared = shared_places(jobs);
  Job a(jobs.threads_a, jobs.phase_s), b(jobs.threads_b, jobs.phase_s);
  const double rounding_s = kRounding * jobs.phase_s;
  double now_s = 0;
  for (std::uint64_t point = 1; !a.is_done() || !b.is_done();) {
    const double point_s =
        period_s > 0 ? number(point) * period_s : std::numeric_limits<double>::infinity();
    const double end_s = now_s + std::min(next_end_s(a, b, shared), next_end_s(b, a, shared));
    const double step_s = std::min(point_s, end_s) - now_s;
    now_s += step_s;
    const auto rates_a = rates(a, b, shared), rates_b = rates(b, a, shared);
    advance(a, rates_a, step_s, now_s, rounding_s);
    advance(b, rates_b, step_s, now_s, rounding_s);
    if (now_s < point_s) continue;
    ++point;
    a.balance();
    b.balance();
  }
  return with_use(jobs, a.end_s, b.end_s);
}

TwoEnds one_team_limit(const TwoJobs& jobs) {
  check(jobs);
  const double end_s = jobs.phase_s * number(jobs.threads_a + jobs.threads_b) / number(jobs.places);
  return with_use(jobs, end_s, end_s);
}

}  // namespace poise
