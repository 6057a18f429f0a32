// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/threads.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/online/juggle.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/juggle_ideal.h"

namespace poise {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

Workload equal_threads(std::uint32_t threads, double load_s) {
  Workload workload;
  workload.tasks.assign(threads, {load_s});
  return workload;
}

double last_s(const ThreadsRun& run) {
  return *std::max_element(run.done_s.begin(), run.done_s.end());
}

TEST(Threads, without_balancing_each_place_ends_when_its_work_is_done) {
  const Machine machine = machine_from_text("numa:2 core:2 speeds:1,1,0.5,0.5");
  Workload workload;
  workload.tasks = {{1}, {2}, {4}, {3}, {0}};
  workload.background_s = {0.5, 0, 0, 0};
  const Placement placement(std::vector<PlaceId>{0, 0, 1, 2, 3});
  const ThreadsRun run = run_threads(machine, workload, placement, 100);
  EXPECT_THAT(run.done_s, Pointwise(DoubleNear(1e-12), work_s(machine, workload, placement)));
  EXPECT_THAT(run.done_s, ElementsAre(3.5, 4, 6, 0));
  EXPECT_EQ(run.swaps, 0u);
}

TEST(Threads, a_balancing_period_longer_than_the_run_does_not_change_when_tasks_end) {
  Workload workload;
  workload.tasks = {{1}, {2}, {4}};
  const Placement placement(std::vector<PlaceId>{0, 0, 1});
  EXPECT_THAT(run_threads(flat_machine(2), workload, placement, 1e17).done_s, ElementsAre(3, 4));
}

TEST(Threads, equal_threads_end_at_the_times_that_the_ideal_model_predicts) {
  for (const std::uint32_t threads : {8u, 9u, 10u, 13u, 16u})
    for (const double period_s : {0.1, 0.25, 1.0, 3.0}) {
      const Machine machine = flat_machine(7);
      const std::vector<DomainId> domains(7, 0);
      const ThreadsRun run = run_threads(machine, equal_threads(threads, 10),
                                         Placement(deal_threads(threads, domains)), period_s);
      const JuggleOutcome ideal =
          simulate_juggle({.program = {.threads = threads, .places = 7, .phase_s = 10, .phases = 1},
                           .redistribution = Redistribution::swaps,
                           .period_s = period_s});
      EXPECT_NEAR(last_s(run), ideal.completion_s, 1e-6) << threads << ", " << period_s;
      EXPECT_EQ(2 * run.swaps, ideal.migrations) << threads << ", " << period_s;
    }
}

/// A reference implementation of run_threads(), which goes from event to event. If all numbers are
/// multiples of a power of two, and at most two threads share a place, nothing is rounded.
ThreadsRun reference(const Machine& machine, const Workload& workload, const Placement& placement,
                     double period_s) {
  const std::uint32_t num_places = machine.num_places();
  std::vector<PlaceId> place_of(placement.places().begin(), placement.places().end());
  std::vector<double> rest_s, progress_s(place_of.size(), 0), gained_s(num_places, 0),
      idle_s(num_places, 0);
  std::vector<DomainId> domain_of;
  for (const Task& task : workload.tasks) rest_s.push_back(task.load_s);
  for (const Place& place : machine.places()) domain_of.push_back(place.domain);
  ThreadsRun run;
  run.done_s.assign(num_places, 0);
  double now_s = 0, point_s = period_s;
  while (std::count(rest_s.begin(), rest_s.end(), 0) < std::ssize(rest_s)) {
    std::vector<double> running(num_places, 0), rate(rest_s.size(), 0);
    for (std::size_t t = 0; t < rest_s.size(); ++t)
      if (rest_s[t] > 0) ++running[place_of[t]];
    double step_s = point_s - now_s;
    for (std::size_t t = 0; t < rest_s.size(); ++t) {
      if (rest_s[t] == 0) continue;
      rate[t] = machine.speed_of(place_of[t]) / running[place_of[t]];
      step_s = std::min(step_s, rest_s[t] / rate[t]);
    }
    now_s += step_s;
    for (PlaceId p = 0; p < num_places; ++p) {
      if (running[p] == 0) idle_s[p] += step_s;
      if (running[p] > 0) run.done_s[p] = now_s;
    }
    for (std::size_t t = 0; t < rest_s.size(); ++t) {
      rest_s[t] -= rate[t] * step_s;
      progress_s[t] += rate[t] * step_s;
      gained_s[place_of[t]] += rate[t] * step_s;
    }
    if (now_s < point_s || std::count(rest_s.begin(), rest_s.end(), 0) == std::ssize(rest_s))
      continue;
    point_s += period_s;
    std::vector<double> speed;
    for (PlaceId p = 0; p < num_places; ++p) {
      const auto threads = std::count(place_of.begin(), place_of.end(), p);
      speed.push_back(
          measured_speed(gained_s[p], static_cast<std::uint32_t>(threads), period_s, idle_s[p]));
    }
    for (const Swap& swap :
         juggle_swaps({progress_s, place_of, speed, domain_of}, period_s * 1e-6)) {
      std::swap(place_of[swap.behind], place_of[swap.ahead]);
      ++run.swaps;
    }
    std::fill(gained_s.begin(), gained_s.end(), 0);
    std::fill(idle_s.begin(), idle_s.end(), 0);
  }
  for (std::size_t p = 0; p < workload.background_s.size(); ++p)
    run.done_s[p] += workload.background_s[p];
  return run;
}

TEST(Threads, unequal_threads_on_unequal_places_end_as_in_a_simulation_of_every_event) {
  std::uint64_t swaps = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text(seed % 2 ? "numa:1 core:5 speeds:1,0.5,2,1,1"
                                                       : "numa:2 core:3 speeds:1,0.5,0.25,2,1,1");
    Workload workload;
    std::vector<PlaceId> places;
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      for (std::uint64_t i = random.below(3); i > 0; --i) {
        workload.tasks.push_back({static_cast<double>(random.below(25)) / 8});
        places.push_back(p);
      }
      if (seed % 3) workload.background_s.push_back(static_cast<double>(random.below(9)) / 4);
    }
    const double period_s = static_cast<double>(1 + random.below(12)) / 8;
    const ThreadsRun run = run_threads(machine, workload, Placement(places), period_s);
    const ThreadsRun expected = reference(machine, workload, Placement(places), period_s);
    EXPECT_EQ(run.done_s, expected.done_s);
    EXPECT_EQ(run.swaps, expected.swaps);
    swaps += run.swaps;
  }
  EXPECT_GT(swaps, num_seeds(300));
}

TEST(Threads, a_run_may_have_a_hundred_thousand_balancing_points) {
  const Machine machine = flat_machine(2);
  Workload workload = equal_threads(2, 1);
  workload.background_s = {9, 0};  // place 0 is busy for 9 s + 1 s in all
  const Placement apart(std::vector<PlaceId>{0, 1});
  EXPECT_NO_THROW(run_threads(machine, workload, apart, 1.0001e-4));
  EXPECT_THROW(run_threads(machine, workload, apart, 0.9999e-4), Error);
}

TEST(Threads, threads_stay_in_their_memory_domain) {
  const Machine machine = machine_from_text("numa:2 core:1");
  const ThreadsRun run =
      run_threads(machine, equal_threads(3, 1), Placement(std::vector<PlaceId>{0, 0, 1}), 0.1);
  EXPECT_THAT(run.done_s, Pointwise(DoubleNear(1e-9), {2.0, 1.0}));
  EXPECT_EQ(run.swaps, 0u);
}

TEST(Threads, a_balancing_period_of_zero_or_almost_zero_is_refused) {
  const Machine machine = flat_machine(2);
  EXPECT_THROW(run_threads(machine, equal_threads(2, 1), Placement(2), 0), Error);
  EXPECT_THROW(run_threads(machine, equal_threads(2, 1), Placement(2), 1e-9), Error);
}

}  // namespace
}  // namespace poise
