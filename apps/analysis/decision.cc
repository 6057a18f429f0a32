#include "apps/analysis/decision.h"

#include <ctime>

namespace poise::apps {

namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Decision decide(const Choice& choice, const Problem& problem) {
  const double wall_s = seconds_of(CLOCK_MONOTONIC);
  const double cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  Decision decision{choice.rebalance(problem)};
  decision.cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
  decision.wall_s = seconds_of(CLOCK_MONOTONIC) - wall_s;
  check(decision.placement, problem.workload.num_tasks(), problem.machine.num_places());
  return decision;
}

}  // namespace poise::apps
