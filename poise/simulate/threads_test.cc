// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/threads.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "poise/base/error.h"
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

TEST(Threads, equal_threads_end_when_the_ideal_model_predicts) {
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
