// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_trace.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "runtimes/profile/series.h"
#include "runtimes/profile/tuning.h"

#include "poise/base/error.h"

namespace poise::profile {

namespace {

/// The profiles for one way of dividing the run into phases: the blocks of each rank, joined into
/// one, and the smallest number of phases that any rank has.
struct Joined {
  std::vector<RankProfile> ranks;
  std::size_t num_phases = 0;
};

Joined joined(const std::vector<RankProfile>& blocks, Cuts cuts) {
  std::map<std::uint32_t, RankProfile> by_rank;
  for (const RankProfile& block : blocks) {
    if (block.cuts != cuts) continue;
    const auto [entry, is_new] = by_rank.try_emplace(block.rank, block);
    RankProfile& rank = entry->second;
    if (is_new) continue;
    rank.phases.insert(rank.phases.end(), block.phases.begin(), block.phases.end());
    rank.names.insert(block.names.begin(), block.names.end());
  }
  Joined result;
  for (auto& [number, rank] : by_rank) {
    result.num_phases =
        result.ranks.empty() ? rank.phases.size() : std::min(result.num_phases, rank.phases.size());
    result.ranks.push_back(std::move(rank));
  }
  return result;
}

/// True if, on at least one rank, all iterations except the longest together take less than the
/// fraction tuning::kMinIterated of the run. The longest iteration then contains most of the run.
bool is_one_iteration(const Joined& iterations, const Joined& slices) {
  if (slices.num_phases < tuning::kMinSlices) return false;
  const auto of = [](const RankProfile& rank, const Joined& all) {
    return std::span(rank.phases).first(all.num_phases);
  };
  for (std::size_t r = 0; r < iterations.ranks.size(); ++r) {
    const auto parts = of(slices.ranks[r], slices);
    const std::int64_t run_ns = parts.back().end_ns - parts.front().begin_ns;
    if (outside_longest_ns(of(iterations.ranks[r], iterations)) < tuning::kMinIterated * run_ns)
      return true;
  }
  return false;
}

void add_messages(const RankProfile& rank, const profile::Phase& phase, Workload& workload) {
  for (const Traffic& sent : phase.traffic) {
    if (sent.messages == 0) continue;
    const TaskId from = sent.is_fetched ? sent.peer : rank.rank;
    const TaskId to = sent.is_fetched ? rank.rank : sent.peer;
    workload.messages.push_back({from, to, sent.messages, sent.bytes});
  }
}

}  // namespace

std::vector<RankProfile> whole(const std::vector<RankProfile>& blocks) {
  if (blocks.empty()) fail("the profile contains no ranks; record the program again");
  const std::uint32_t num_ranks = blocks[0].num_ranks;
  for (const RankProfile& block : blocks)
    if (block.num_ranks != num_ranks)
      fail(
          "the profile mixes ranks of two jobs, one with {} ranks and one with {}; record it again",
          num_ranks, block.num_ranks);
  Joined best;
  std::size_t most_ranks = 0;
  for (const Cuts cuts : {Cuts::pcontrol, Cuts::collectives, Cuts::slices})
    most_ranks = std::max(most_ranks, joined(blocks, cuts).ranks.size());
  for (const Cuts cuts : {Cuts::slices, Cuts::collectives, Cuts::pcontrol}) {
    Joined candidate = joined(blocks, cuts);
    if (candidate.ranks.size() != most_ranks) continue;
    if (!best.ranks.empty() && candidate.num_phases < 2) continue;
    if (cuts == Cuts::collectives && is_one_iteration(candidate, best)) continue;
    best = std::move(candidate);
  }
  std::vector<RankProfile> ranks(num_ranks);
  for (std::uint32_t r = 0; r < num_ranks; ++r)
    ranks[r] = {.rank = r,
                .num_ranks = num_ranks,
                .host = best.ranks[0].host,
                .cuts = best.ranks[0].cuts,
                .is_complete = false,
                .phases = std::vector<profile::Phase>(best.num_phases)};
  for (RankProfile& rank : best.ranks) {
    rank.phases.resize(best.num_phases);
    const std::uint32_t r = rank.rank;
    ranks[r] = std::move(rank);
  }
  return ranks;
}

Hosts hosts_of(const std::vector<RankProfile>& ranks) {
  Hosts hosts;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const RankProfile& rank : ranks) {
    const auto [number, is_new] = numbers.try_emplace(rank.host, hosts.names.size());
    if (is_new) hosts.names.push_back(rank.host);
    hosts.of_rank.push_back(number->second);
  }
  return hosts;
}

double load_s(const profile::Phase& phase) {
  // The load includes time in which the rank slept or waited for an accelerator, but not time in
  // which it was preempted, that is, waited for a cpu.
  const std::int64_t ns =
      std::max(phase.useful_cpu_ns, phase.totals.useful_ns - phase.totals.useful_queued_ns);
  return 1e-9 * std::max<std::int64_t>(0, ns);
}

Trace trace_of(const std::vector<RankProfile>& ranks, const Machine* machine,
               const PlaceOf& place_of) {
  const std::uint32_t num_ranks = ranks.size();
  const std::vector<std::uint32_t> hosts = hosts_of(ranks).of_rank;
  Trace trace;
  if (machine != nullptr) trace.machine = *machine;
  trace.num_places = machine != nullptr ? machine->num_places() : num_ranks;
  std::vector<PlaceId> places(num_ranks);
  for (std::size_t p = 0; p < ranks[0].phases.size(); ++p) {
    poise::Phase phase;
    phase.id = p;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const RankProfile& rank = ranks[r];
      const profile::Phase& own = rank.phases[p];
      phase.wall_s = std::max(phase.wall_s, 1e-9 * (own.end_ns - own.begin_ns));
      phase.workload.tasks.push_back({.load_s = load_s(own)});
      phase.workload.memory.push_back({.footprint_bytes = own.peak_bytes});
      phase.names.push_back({.id = rank.rank});
      add_messages(rank, own, phase.workload);
      if (machine == nullptr)
        places[rank.rank] = rank.rank;
      else if (own.cpu >= 0 || p == 0)  // otherwise the rank keeps its place of the previous phase
        places[rank.rank] = place_of(hosts[r], own.cpu);
    }
    phase.placement = Placement(places);
    trace.phases.push_back(std::move(phase));
  }
  return trace;
}

}  // namespace poise::profile
