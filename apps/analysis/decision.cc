// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/decision.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "apps/text/format.h"

#include "poise/base/clock.h"
#include "poise/placement/answer.h"
#include "poise/placement/memory_room.h"

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

/// Returns a text such as "place 3 exceeds its limit by 1.5 kB".
std::string excess_text(const MemoryRoom::Excess& over, std::string_view noun) {
  if (over.count == 1)
    return fmt::format("{} {} exceeds its limit by {}", noun, over.worst, bytes_text(over.bytes));
  return fmt::format("{} exceed their limits, {} {} by the most, {}", count_text(over.count, noun),
                     noun, over.worst, bytes_text(over.bytes));
}

std::string memory_note(const Contender& contender, const Problem& problem,
                        const Placement& placement) {
  if (!contender.memory_bytes) return {};
  const MemoryRoom room(problem.machine, problem.workload, placement, *contender.memory_bytes);
  const MemoryRoom::Excess places = room.places_over(), domains = room.domains_over();
  if (places.count + domains.count == 0) return {};
  std::string text = fmt::format("strategy {} found no placement within memory: ", contender.name);
  if (places.count > 0) text += excess_text(places, "place");
  if (places.count > 0 && domains.count > 0) text += "; ";
  if (domains.count > 0) text += excess_text(domains, "memory domain");
  return text;
}

}  // namespace

Decision decide(const Contender& contender, const Problem& problem) {
  const double wall_s = wall_now_s();
  const double cpu_s = cpu_time_s();
  Decision decision{contender.decide(problem)};
  decision.cpu_s = cpu_time_s() - cpu_s;
  decision.wall_s = wall_now_s() - wall_s;
  check_answer(problem, decision.placement);
  decision.memory_note = memory_note(contender, problem, decision.placement);
  return decision;
}

}  // namespace poise::apps
