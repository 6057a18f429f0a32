// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/outlook.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "poise/online/juggle.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

/// Returns the part of the program that runs in each domain. Domains without threads are omitted.
std::vector<SpmdProgram> split(const SpmdProgram& program, std::span<const DomainId> domain_of) {
  std::vector<SpmdProgram> parts(domain_of.back() + 1, {0, 0, program.phase_s, program.phases});
  for (const DomainId d : domain_of) ++parts[d].places;
  for (const PlaceId p : deal_threads(program.threads, domain_of)) ++parts[domain_of[p]].threads;
  std::erase_if(parts, [](const SpmdProgram& part) { return part.threads == 0; });
  return parts;
}

template <typename Seconds>
double slowest(const std::vector<SpmdProgram>& parts, Seconds seconds) {
  double slowest_s = 0;
  for (const SpmdProgram& part : parts) slowest_s = std::max(slowest_s, seconds(part));
  return slowest_s;
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

/// True if the speed-up is close to the best possible one and large enough to justify moving
/// threads.
bool is_good(double speed_up, double best) {
  return speed_up >= std::max(simulate_tuning::kWorthGaining, simulate_tuning::kGoodShare * best);
}

/// Returns the longest of the periods period_s / 2, period_s / 4, ... whose speed-up is_good(), or
/// 0 if there is none among those whose simulation is_short().
double good_period_s(const Outlook& outlook, JuggleRun run) {
  run.program.phases = std::min(run.program.phases, simulate_tuning::kPhasesTried);
  const double share = 1.0 * run.program.phases / outlook.question.program.phases;
  while (run.period_s >= 2 * simulate_tuning::kMinPeriod_s) {
    run.period_s /= 2;
    if (!is_short(run)) return 0;
    const double speed_up = outlook.static_s * share / simulate_juggle(run).completion_s;
    if (is_good(speed_up, outlook.static_s / outlook.ideal_s)) return run.period_s;
  }
  return 0;
}

std::string advice(const Outlook& outlook, const JuggleRun& run) {
  const SpmdProgram& program = outlook.question.program;
  const double best = outlook.static_s / outlook.ideal_s;
  const double now = outlook.static_s / outlook.simulated.completion_s;
  const double reactive = outlook.static_s / outlook.reactive_s;
  if (program.threads <= program.places)
    return "pin each thread to a cpu of its own: there is nothing to gain";
  if (outlook.static_s <= outlook.ideal_s * (1 + 1e-12))
    return "pin the threads: every cpu has the same share, there is nothing to gain";
  if (best < simulate_tuning::kWorthGaining)
    return fmt::format("pin the threads: balancing gains {:.1f}% at best", 100 * (best - 1));
  if (is_good(now, best))
    return fmt::format(
        "balance proactively: {:.2f} times as fast as pinned threads, {:.1f}% of the ideal", now,
        100 * now / best);
  if (const double period_s = good_period_s(outlook, run); period_s > 0)
    return fmt::format(
        "balance proactively with a period of {} or less: up to {:.2f} times as fast as pinned "
        "threads, instead of {:.2f} at {}",
        duration(period_s), best, now, duration(run.period_s));
  if (reactive > now && reactive >= simulate_tuning::kWorthGaining)
    return fmt::format(
        "phases are short against any useful period; react when threads block: {:.2f} times as "
        "fast as pinned threads, instead of {:.2f}",
        reactive, now);
  if (now >= simulate_tuning::kWorthGaining)
    return fmt::format(
        "balance proactively: {:.2f} times as fast as pinned threads; phases are too short for "
        "the ideal {:.2f}",
        now, best);
  return "pin the threads: phases are too short for a period to balance them";
}

}  // namespace

Outlook outlook(const OutlookQuestion& question) {
  const SpmdProgram& program = question.program;
  JuggleRun run{.program = program,
                .period_s = question.period_s,
                .jitter = question.jitter,
                .seed = question.seed};
  check(run);
  run.domain_of_place = equal_domains(program.places, question.domains);
  const auto parts = split(program, run.domain_of_place);
  const double period_s = question.period_s;

  Outlook outlook;
  outlook.question = question;
  outlook.static_s = slowest(parts, static_s);
  outlook.ideal_s = slowest(parts, ideal_s);
  outlook.reactive_s = slowest(parts, reactive_s);
  outlook.bound_s = slowest(parts, [&](const SpmdProgram& part) {
    return part.phases == 1 ? proactive_bound_s(part, period_s) : ideal_s(part);
  });
  outlook.approximation_s = slowest(
      parts, [&](const SpmdProgram& part) { return proactive_approximation_s(part, period_s); });
  outlook.simulated = simulate_juggle(run);
  run.redistribution = Redistribution::swaps;
  outlook.simulated_swaps = simulate_juggle(run);
  run.redistribution = Redistribution::sorted;
  run.balancing = Balancing::hybrid;
  outlook.simulated_hybrid = simulate_juggle(run);
  run.balancing = Balancing::proactive;
  outlook.advice = advice(outlook, run);
  return outlook;
}

}  // namespace poise
