// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_causes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

#include "poise/base/enum_index.h"

namespace poise {

namespace {

using Kind = JuggleCause::Kind;

double number(std::size_t count) { return count; }

std::string cpus_text(std::size_t count) {
  return fmt::format("{} cpu{}", count, count == 1 ? "" : "s");
}

/// Number of cpus that the threads can use at the same time.
double usable_cpus(const JuggleFacts& facts) {
  const double cpus = number(facts.cpus.size());
  return facts.quota_cpus ? std::min(cpus, *facts.quota_cpus) : cpus;
}

/// Number of cpus that the threads could use at the same time without the quota.
double usable_without_quota(const JuggleFacts& facts) {
  return std::min(number(facts.threads),
                  std::max(number(facts.allowed_cpus), number(facts.cpus.size())));
}

bool is_quota_too_small(const JuggleFacts& facts) {
  return facts.quota_cpus && *facts.quota_cpus < usable_without_quota(facts);
}

void add_spinning(const JuggleFacts& facts, const JuggleTuning& tuning,
                  std::vector<JuggleCause>& causes) {
  const std::size_t cpus = facts.cpus.size();
  const bool yields = facts.turns > tuning.max_turns_per_s() * facts.watched_s;
  // The average, because a thread that computes only when the program starts does no harm later.
  const auto threads = static_cast<std::size_t>(std::lround(facts.threads_s / facts.watched_s));
  if (threads <= cpus || facts.asleep_s > tuning.noise * facts.watched_s) return;
  if (!facts.waits_actively && !yields) return;
  causes.push_back(
      {Kind::spinning, std::ceil(threads / number(cpus)),
       fmt::format(
           "{} on {} spin while they wait for each other, so waiting threads take the cpus from "
           "those that compute: use {}, or let threads sleep while they wait "
           "(OMP_WAIT_POLICY=passive)",
           threads_text(threads), cpus_text(cpus), threads_text(cpus))});
}

void add_bound(const JuggleFacts& facts, std::vector<JuggleCause>& causes) {
  const auto& on = facts.bound_on;
  const std::size_t bound = std::accumulate(on.begin(), on.end(), std::size_t{0});
  if (facts.threads < 2 || on.size() < 2 || bound < facts.threads) return;
  const auto [least, most] = std::minmax_element(on.begin(), on.end());
  const double fair = std::max(1.0, number(bound) / number(on.size()));
  const double gain = *most / fair;
  if (*most == bound) {
    const auto cpu = facts.cpus[most - on.begin()];
    causes.push_back(
        {Kind::one_cpu, gain,
         fmt::format("all {} are bound to cpu {}, and {} not used: remove the binding "
                     "(OMP_PROC_BIND=false, no taskset); two OpenMP run-times in one process do "
                     "this",
                     threads_text(bound), cpu,
                     on.size() == 2 ? "the other cpu is"
                                    : fmt::format("{} other cpus are", on.size() - 1))});
  } else if (*most > std::max(*least, 1U)) {
    causes.push_back(
        {Kind::bound_unevenly, gain,
         fmt::format("{} are bound to {}, {} to one and {} to another: use {} or {}, or remove the "
                     "binding (OMP_PROC_BIND=false)",
                     threads_text(bound), cpus_text(on.size()), *most, *least,
                     threads_text(std::max<std::size_t>(1, bound / on.size()) * on.size()),
                     (bound / on.size() + 1) * on.size())});
  }
}

void add_quota(const JuggleFacts& facts, std::vector<JuggleCause>& causes) {
  if (!is_quota_too_small(facts)) return;
  const double quota = *facts.quota_cpus;
  const auto fitting = static_cast<std::size_t>(std::ceil(quota));
  const bool is_one = facts.threads == 1;
  const std::string fewer =
      fitting < facts.threads ? fmt::format("use {}, or ", threads_text(fitting)) : "";
  causes.push_back(
      {Kind::quota, usable_without_quota(facts) / quota,
       fmt::format("the cgroup's quota (cpu.max) pays for {:.3g} cpu{}, and {} compute{}: the "
                   "kernel stops {} for a part of each 100 ms; {}ask for more cpus",
                   quota, quota == 1 ? "" : "s", threads_text(facts.threads), is_one ? "s" : "",
                   is_one ? "it" : "all of them", fewer)});
}

/// What helps against other programs. `should_leave`: the threads are faster without the cpu that
/// another program takes.
std::string cure_of_stranger(const JuggleFacts& facts, bool is_several, bool should_leave) {
  const std::size_t cpus = facts.cpus.size();
  if (is_several) return "stop them";
  if (cpus == 1) return "stop it, or use another cpu (--cpus)";
  if (!should_leave) return "stop it";
  if (facts.threads == cpus) return fmt::format("stop it, or use {}", threads_text(cpus - 1));
  return "stop it, or leave that cpu to it (--cpus)";
}

/// The cpu time that other programs took from the taken cpus, which are those cpus of which other
/// programs took a notable share. Half of the time of a cpu counts as 0.5.
struct TakenCpus {
  double all = 0, most = 0;  // sum over the taken cpus; share of the cpu that lost most
  std::size_t worst = 0;     // index of the cpu that lost most
  std::size_t count = 0;     // number of taken cpus
};

TakenCpus taken_cpus(const JuggleFacts& facts, const JuggleTuning& tuning) {
  TakenCpus cpus;
  for (std::size_t i = 0; i < facts.taken_s.size(); ++i) {
    const double taken = facts.taken_s[i] / facts.watched_s;
    if (taken <= tuning.notable) continue;
    ++cpus.count;
    cpus.all += taken;
    if (taken <= cpus.most) continue;
    cpus.most = taken;
    cpus.worst = i;
  }
  return cpus;
}

void add_stranger(const JuggleFacts& facts, const JuggleTuning& tuning,
                  std::vector<JuggleCause>& causes) {
  // The kernel's waiting time includes the time for which the quota stops threads.
  if (is_quota_too_small(facts)) return;
  const double cpus = number(facts.cpus.size());
  const double lost = std::min(facts.lost_cpu_s / facts.watched_s, cpus);
  TakenCpus taken = taken_cpus(facts, tuning);
  const bool is_on_a_cpu = taken.count > 0;
  // Bound threads that share a cpu wait for each other, so their lost time does not prove that
  // another program runs.
  const bool is_bound = std::any_of(facts.bound_on.begin(), facts.bound_on.end(),
                                    [](std::uint32_t threads) { return threads > 0; });
  if (!is_on_a_cpu && (is_bound || lost <= tuning.notable)) return;
  if (!is_on_a_cpu) {
    taken.most = lost;
    taken.all = std::clamp(facts.taken_cpu_s / facts.watched_s, lost, cpus);
  }
  const bool is_several = is_on_a_cpu ? taken.count > 1 : cpus > 1 && taken.all >= 1;
  const std::string what =
      is_several
          ? fmt::format("{:.1f} of the {} cpus", taken.all, cpus)
          : fmt::format("{:.0f}% of {}", 100 * taken.all,
                        is_on_a_cpu || cpus == 1 ? fmt::format("cpu {}", facts.cpus[taken.worst])
                                                 : "one of the cpus");
  // If the program often starts threads, the time may be taken by threads of the program that end
  // before they are measured, and not by another program.
  if (facts.births > tuning.notable_births_per_s * facts.watched_s) {
    causes.push_back(
        {Kind::short_lived, 1,
         fmt::format("short-lived threads of the program, or another program, take {} from the "
                     "other threads: to tell which, let threads live longer",
                     what)});
    return;
  }
  // If each thread has a cpu of its own, all wait for the thread that loses time to the other
  // program. If there are more threads than cpus, the threads share what is left of all cpus.
  const bool is_shared = !is_on_a_cpu && facts.threads > cpus;
  const double share = is_shared ? taken.most / cpus : taken.most;
  // At least m threads get m - 1 of the m cpus if they leave the other program's cpu to it, and m
  // (1 - share) cpus if they use it, because all then wait for the thread that loses the share.
  // Fewer threads than cpus lose nothing by leaving that cpu, if it is known which one that is. If
  // it is not known, the threads are free, and then they wait only if other programs use all cpus.
  const bool should_leave = facts.threads < cpus ? is_on_a_cpu : share * cpus > 1;
  causes.push_back({Kind::stranger, 1 / (1 - std::min(share, 0.99)),
                    fmt::format("{} {} from the threads: {}",
                                is_several ? "other programs take" : "another program takes", what,
                                cure_of_stranger(facts, is_several, should_leave))});
}

/// What is known if no cause is found. If there are more threads than cpus, threads wait for a cpu
/// even without another program. If such threads also sleep, it is unknown how much of their
/// waiting another program causes.
std::string nothing_text(const JuggleFacts& facts, const JuggleTuning& tuning) {
  const std::string threads = threads_text(facts.threads);
  if (facts.threads > facts.cpus.size() && facts.asleep_s > tuning.noise * facts.watched_s)
    return fmt::format(
        "nothing to gain as far as can be seen: {} share {} and sleep at times, which can hide "
        "time that another program takes",
        threads, cpus_text(facts.cpus.size()));
  return fmt::format("nothing to gain: {} had all cpus that {} could use, {:.3g}", threads,
                     facts.threads == 1 ? "it" : "they",
                     std::min<double>(facts.threads, usable_cpus(facts)));
}

struct KindRow {
  const char* name;
  bool is_for_user = false;
};
constexpr KindRow kKinds[] = {{"unknown"},        {"spinning", true}, {"one_cpu"},
                              {"bound_unevenly"}, {"quota", true},    {"stranger"},
                              {"short_lived"},    {"nothing"}};
static_assert(std::size(kKinds) == index_of(Kind::nothing) + 1, "a row per kind, in their order");

}  // namespace

std::string threads_text(std::size_t count) {
  return fmt::format("{} thread{}", count, count == 1 ? "" : "s");
}

std::vector<JuggleCause> causes_of(const JuggleFacts& facts, const JuggleTuning& tuning) {
  if (facts.watched_s < tuning.enough_windows * tuning.min_window_s || facts.threads == 0)
    return {{Kind::unknown, 1, "the threads computed too briefly to tell what slows them down"}};
  std::vector<JuggleCause> causes;
  add_spinning(facts, tuning, causes);
  add_bound(facts, causes);
  add_quota(facts, causes);
  add_stranger(facts, tuning, causes);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const JuggleCause& a, const JuggleCause& b) { return a.gain > b.gain; });
  if (causes.empty()) causes.push_back({Kind::nothing, 1, nothing_text(facts, tuning)});
  return causes;
}

bool is_for_user(Kind kind) { return kKinds[index_of(kind)].is_for_user; }

const char* name_of(Kind kind) { return kKinds[index_of(kind)].name; }

}  // namespace poise
