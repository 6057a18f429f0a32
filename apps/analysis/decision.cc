// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/decision.h"

#include <sys/resource.h>

#include "poise/base/clock.h"
#include "poise/placement/answer.h"

namespace poise::apps {

namespace {

/// Returns the CPU time of this process and of its ended children, because a strategy may run in a
/// child process.
double cpu_time_s() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) { return time.tv_sec + 1e-6 * time.tv_usec; };
  return process_cpu_now_s() + seconds(children.ru_utime) + seconds(children.ru_stime);
}

}  // namespace

Decision decide(const Contender& contender, const Problem& problem) {
  const double wall_s = wall_now_s();
  const double cpu_s = cpu_time_s();
  Decision decision{contender.decide(problem)};
  decision.cpu_s = cpu_time_s() - cpu_s;
  decision.wall_s = wall_now_s() - wall_s;
  check_answer(problem, decision.placement);
  return decision;
}

}  // namespace poise::apps
