// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/diagnose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "poise/base/error.h"
#include "poise/diagnosis/distributed_work.h"
#include "poise/diagnosis/interference.h"
#include "poise/diagnosis/mapping.h"
#include "poise/diagnosis/merged_slices.h"
#include "poise/diagnosis/phase_times.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/diagnosis/shared_cores.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

namespace tuning = diagnosis_tuning;

/// The seconds saved by the placement `better` if ranks compute for `loads_s`. At the present
/// placement, messages lengthen the run's phases by `exposed_s`.
Seconds saved_by_places(const ReplayedRun& replay, const Placement& better,
                        const RankLoads& loads_s, const std::vector<double>& exposed_s) {
  const double factor = replay.factor_for(loads_s, sum_of(replay.phases(), exposed_s));
  std::vector<double> saved_s = replay.times_s(loads_s, replay.own_places(), factor);
  const std::vector<double> left_s = replay.times_s(loads_s, better, factor);
  for (std::size_t k = 0; k < saved_s.size(); ++k) saved_s[k] -= left_s[k];
  return sum_over_run(saved_s, replay.phases(), exposed_s);
}

/// Adds the advice to map ranks to other places. The event engine predicts the run time with the
/// present and with the better placement. The low estimate of the saving assumes that messages take
/// the ranks' mean transfer time, and that all ranks send at the same time. The high estimate
/// assumes that messages take all the time in which the busiest rank of a phase does not compute:
/// if that rank waits for a late rank, transfers may have made the late rank late.
void add_mapping(const MeasuredRun& run, const Trace& trace, const ReplayedRun& replay,
                 Diagnosis& diagnosis) {
  // A map gives each rank one core, so ranks with several threads would become slower.
  if (!replay.is_possible() || !run.knows_threads || !run.teams.empty()) return;
  const Workload traffic = traffic_of(trace);
  const Placement now = replay.own_places();
  const double cost = message_cost(*trace.machine, traffic, now);
  if (cost <= 0) return;
  const Placement better = mapped(*trace.machine, traffic, now);
  diagnosis.mapping_share = 1 - message_cost(*trace.machine, traffic, better) / cost;
  if (better == now) return;
  RankLoads useful_s, even_s;
  for (const MeasuredPhase& phase : run.phases) {
    std::vector<double>& row = useful_s.emplace_back();
    for (const RankTimes& rank : phase.ranks) row.push_back(rank.useful_s);
    even_s.emplace_back(row.size(), std::accumulate(row.begin(), row.end(), 0.0) / row.size());
  }
  const Seconds least = saved_by_places(replay, better, even_s, mean_transfers_s(run));
  const Seconds other = saved_by_places(replay, better, useful_s, exposed_times_s(run));
  const Seconds most = other.value > least.value ? other : least;
  if (least.value <= 0) return;
  // The low and the high estimate may differ by a large factor, so their geometric mean is the
  // prediction. Part of a transfer's time may not be spent in the network; therefore the lower end
  // is half of the low estimate.
  const double middle_s = std::sqrt(least.value * most.value);
  diagnosis.map.assign(better.places().begin(), better.places().end());
  diagnosis.advice.push_back(
      {Remedy::mapping, {middle_s, middle_s - least.value / 2 + most.half_width}, false});
}

std::vector<LateRank> late_ranks(const MeasuredRun& run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> waits;  // (for whom, who)
  for (const MeasuredPhase& phase : run.phases)
    for (std::uint32_t r = 0; r < phase.ranks.size(); ++r)
      for (const auto& [whom, seconds] : phase.ranks[r].waited_for) waits[{whom, r}] += seconds;
  std::map<std::uint32_t, LateRank> by_rank;
  for (const auto& [pair, seconds] : waits) {
    LateRank& late = by_rank.try_emplace(pair.first, LateRank{.rank = pair.first}).first->second;
    ++late.num_waiting;
    late.seconds += seconds;
  }
  std::vector<LateRank> late;
  for (const auto& [rank, entry] : by_rank) late.push_back(entry);
  std::stable_sort(late.begin(), late.end(),
                   [](const LateRank& a, const LateRank& b) { return a.seconds > b.seconds; });
  return late;
}

/// Judges the imbalance, and adds the advice to distribute the work and to lend tasks.
void add_imbalance(const MeasuredRun& run, const Trace& trace, Diagnosis& diagnosis) {
  std::optional<ReplayedRun> replay;
  if (trace.machine) replay.emplace(run, trace);
  const ReplayedRun* const replayed = replay ? &*replay : nullptr;
  diagnosis.imbalance = imbalance_of(run);
  diagnosis.advice = {advice_on_objects(run, trace, diagnosis.imbalance, replayed),
                      advice_on_lending(run, trace, diagnosis.imbalance, replayed)};
}

/// Drops advice whose saving is small or uncertain, sorts the rest by savings, and then puts the
/// advice that should be tried first at the front.
void rank_advice(std::vector<Advice>& advice, double run_s) {
  std::erase_if(advice, [&](const Advice& a) {
    return a.saved.value < tuning::kMinShare * run_s || a.saved.value <= a.saved.half_width * 0.99;
  });
  std::stable_sort(advice.begin(), advice.end(),
                   [](const Advice& a, const Advice& b) { return a.saved.value > b.saved.value; });
  if (advice.empty()) {
    advice.push_back({});
    return;
  }
  // If Remedy::lending could not be simulated, its saving is only an upper bound. Then, for a fair
  // comparison, Remedy::objects is rated by the upper end of its interval as well.
  const Advice& best = advice.front();
  const auto compared_s = [&](const Advice& other) {
    const bool adds_width = best.is_bound && other.remedy == Remedy::objects;
    return other.saved.value + (adds_width ? other.saved.half_width : 0);
  };
  auto first = advice.begin();
  for (auto other = advice.begin(); other != advice.end(); ++other)
    if (other->remedy < first->remedy &&
        compared_s(*other) >= tuning::kGoodEnough * best.saved.value)
      first = other;
  std::rotate(advice.begin(), first, first + 1);
}

TeamBalance balance_of(const std::vector<RankTeam>& teams) {
  TeamBalance balance;
  double sum = 0;
  for (const RankTeam& team : teams) {
    const double most_s = *std::max_element(team.work_s.begin(), team.work_s.end());
    const double all_s = std::accumulate(team.work_s.begin(), team.work_s.end(), 0.0);
    const double even = most_s > 0 ? all_s / team.work_s.size() / most_s : 1.0;
    sum += even;
    if (balance.ranks++ > 0 && even >= balance.worst) continue;
    balance.worst = even;
    balance.rank = team.rank;
  }
  if (balance.ranks > 0) balance.even = sum / balance.ranks;
  return balance;
}

std::vector<ThreadCause> thread_causes(const MeasuredRun& run) {
  std::vector<ThreadCause> found;
  for (std::uint32_t node = 0; node < run.threads_of_node.size(); ++node) {
    if (run.threads_of_node[node].threads == 0) continue;
    JuggleCause cause = causes_of(run.threads_of_node[node]).front();
    if (cause.kind != JuggleCause::Kind::unknown && cause.kind != JuggleCause::Kind::nothing)
      found.push_back({node, std::move(cause)});
  }
  return found;
}

/// Returns the smallest CPU quota of any node, as a number of cpus, or 0 if there is no quota.
double smallest_quota(const MeasuredRun& run) {
  double least = 0;
  for (const NodeQuota& quota : run.quotas)
    if (quota.cpus > 0 && (least == 0 || quota.cpus < least)) least = quota.cpus;
  return least;
}

void check_same_run(const MeasuredRun& run, const Trace& trace) {
  if (trace.phases.size() != run.phases.size() ||
      trace.phases[0].placement.num_tasks() != run.num_ranks())
    fail(
        "the profile has {} ranks and {} phases, but the trace has {} ranks and {} phases; both "
        "must be of the same run",
        run.num_ranks(), run.phases.size(),
        trace.phases.empty() ? 0 : trace.phases[0].placement.num_tasks(), trace.phases.size());
}

}  // namespace

Diagnosis diagnose(const MeasuredRun& run, const Trace& trace) {
  check(run);
  check_same_run(run, trace);
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.knows_waiting = run.knows_waiting;
  diagnosis.knows_threads = run.knows_threads;
  std::map<std::string, bool> names;
  for (const MeasuredPhase& phase : run.phases)
    if (!phase.name.empty() && names.try_emplace(phase.name).second)
      diagnosis.named.emplace_back(phase.name, efficiencies(part_named(run, phase.name)));
  diagnosis.late = late_ranks(run);
  diagnosis.teams = balance_of(run.teams);
  diagnosis.threads = thread_causes(run);
  if (const std::size_t count = slices_to_merge(run); count > 1) {
    add_imbalance(merged(run, count), merged(trace, count), diagnosis);
    diagnosis.imbalance.every *= count;
  } else {
    add_imbalance(run, trace, diagnosis);
  }
  std::optional<ReplayedRun> replay;
  if (trace.machine) replay.emplace(run, trace);
  const NodeSizes nodes = trace.machine ? node_sizes(trace) : NodeSizes{};
  std::optional<MeasuredRun> unlimited, alone;
  // `own` is the run without the time for which ranks queued because of quotas or other programs.
  const MeasuredRun* own = &run;
  if (std::ranges::any_of(run.quotas, [](const NodeQuota& q) { return q.stopped_s > 0; })) {
    unlimited = without_quota(run);
    diagnosis.advice.push_back(advice_on_quota(run, *unlimited));
    own = &*unlimited;
  }
  if (!run.others_s.empty()) {
    alone = without_others(*own, nodes);
    diagnosis.advice.push_back(advice_on_other_programs(*own, *alone));
    own = &*alone;
  }
  diagnosis.quota_cpus = smallest_quota(run);
  if (replay) {
    if (const auto idle = idle_on_shared_cores_s(run, nodes))
      limit_on_shared_cores(diagnosis.advice, *idle);
    for (std::size_t n = 0; n < nodes.ranks.size(); ++n) {
      if (nodes.ranks[n] < diagnosis.ranks_per_node) continue;
      diagnosis.ranks_per_node = nodes.ranks[n];
      diagnosis.cores_per_node = nodes.cores[n];
    }
    add_advice_on_crowded_nodes(*own, trace, nodes, *replay, diagnosis.advice);
    add_advice_on_binding(*own, trace, nodes, diagnosis.advice);
    add_mapping(run, trace, *replay, diagnosis);
  }
  rank_advice(diagnosis.advice, diagnosis.whole.run_s);
  return diagnosis;
}

}  // namespace poise
