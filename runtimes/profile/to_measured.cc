// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_measured.h"

#include <algorithm>
#include <cmath>

#include "runtimes/profile/to_trace.h"

namespace poise::profile {

namespace {

double seconds(std::int64_t ns) {
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(0, ns));
}

RankTimes times_of(const Phase& phase) {
  RankTimes times{.wall_s = seconds(phase.end_ns - phase.begin_ns),
                  .useful_s = seconds(phase.totals.useful_ns),
                  .load_s = load_s(phase),
                  .queued_s = seconds(phase.queued_ns)};
  double squares = 0;
  for (const auto what : {WaitsFor::collective, WaitsFor::message}) {
    const Estimate estimate = waited(phase, what);
    const Waiting& samples = phase.waiting[static_cast<std::size_t>(what)];
    times.waited.value += estimate.seconds;
    squares += estimate.half_width_s * estimate.half_width_s;
    if (samples.waited_ns <= 0) continue;
    const double all = estimate.seconds / seconds(samples.waited_ns);
    for (const auto& [rank, ns] : samples.for_whom)
      times.waited_for.emplace_back(rank, all * seconds(ns));
  }
  times.waited.half_width = std::sqrt(squares);
  return times;
}

std::string name_of(const RankProfile& rank, std::uint64_t label) {
  if (label == 0) return "";
  const auto named = rank.names.find(label);
  return named == rank.names.end() ? std::to_string(label) : named->second;
}

/// All ranks of a communicator count the same call, so the maximum is taken; only the deciding rank
/// knows the gain.
void add(const Reorderings& own, ReorderedTopologies& all) {
  all.calls = std::max(all.calls, own.calls);
  all.reordered = std::max(all.reordered, own.reordered);
  all.before += own.before;
  all.after += own.after;
  all.deciding_s = std::max(all.deciding_s, seconds(own.deciding_ns));
}

}  // namespace

MeasuredRun measured(const std::vector<RankProfile>& ranks) {
  MeasuredRun run;
  const std::vector<std::string> hosts = hosts_of(ranks);
  for (const RankProfile& rank : ranks) {
    const auto host = std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin();
    run.node_of_rank.push_back(static_cast<std::uint32_t>(host));
    add(rank.reorderings, run.topologies);
    // A rank that died could not compare its records with others.
    run.knows_waiting = run.knows_waiting && rank.is_complete && rank.knows_waiting;
  }
  for (std::size_t p = 0; p < ranks[0].phases.size(); ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    phase.name = name_of(ranks[0], ranks[0].phases[p].label);
    for (const RankProfile& rank : ranks) phase.ranks.push_back(times_of(rank.phases[p]));
  }
  return run;
}

}  // namespace poise::profile
