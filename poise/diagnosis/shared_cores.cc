// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/shared_cores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/phase_times.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

/// True if any node has more ranks than cores.
bool is_crowded(const NodeSizes& nodes) {
  for (std::size_t n = 0; n < nodes.cores.size(); ++n)
    if (nodes.ranks[n] > nodes.cores[n]) return true;
  return false;
}

/// The shortest time in which the work of a phase can be done if the ranks of each node share its
/// cores evenly. It is at least the largest load of a rank. `sums` holds, for each node, the CPU
/// time that other programs take from the cores during the phase.
double shared_s(const MeasuredPhase& phase, const NodeSizes& nodes, std::vector<double> sums) {
  double longest_s = 0;
  for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
    sums[nodes.of_rank[r]] += phase.ranks[r].load_s;
    longest_s = std::max(longest_s, phase.ranks[r].load_s);
  }
  for (std::size_t n = 0; n < sums.size(); ++n)
    if (nodes.ranks[n] > nodes.cores[n]) longest_s = std::max(longest_s, sums[n] / nodes.cores[n]);
  return longest_s;
}

/// The shortest time, as above, if no other programs use the cores.
double shared_s(const MeasuredPhase& phase, const NodeSizes& nodes) {
  return shared_s(phase, nodes, std::vector<double>(nodes.cores.size()));
}

/// For each node, the CPU time that other programs used in a phase of `phase_s` seconds. Only their
/// CPU time in the whole run is known, so it is spread evenly over the run.
std::vector<double> others_in(const MeasuredRun& run, const NodeSizes& nodes, double phase_s,
                              double run_s) {
  std::vector<double> others_s = run.others_s;
  others_s.resize(nodes.cores.size());
  for (double& seconds : others_s) seconds *= phase_s / std::max(run_s, 1e-300);
  return others_s;
}

/// The work of the busiest core if no rank moves to another core. The result is limited to the time
/// of the phase, because if ranks did move, the recorded places may assign more work to a core than
/// that core really did.
double fullest_core_s(const MeasuredPhase& phase, const Placement& placement) {
  std::map<PlaceId, double> sums;
  double most_s = 0, phase_s = 0;
  for (std::uint32_t r = 0; r < phase.ranks.size(); ++r) {
    most_s = std::max(most_s, sums[placement.of(r)] += phase.ranks[r].load_s);
    phase_s = std::max(phase_s, phase.ranks[r].wall_s);
  }
  return std::min(most_s, phase_s);
}

/// True if it is known that the kernel may move every rank of the nodes with more ranks than cores.
bool are_crowded_ranks_free(const MeasuredRun& run, const NodeSizes& nodes) {
  if (run.is_free.empty()) return false;
  for (std::size_t r = 0; r < nodes.of_rank.size(); ++r) {
    const NodeId node = nodes.of_rank[r];
    if (nodes.ranks[node] > nodes.cores[node] && !run.is_free[r]) return false;
  }
  return true;
}

/// Estimates how much the waiting ranks of crowded nodes (more ranks than cores) spin: 1 if they
/// always keep their cores while they wait, 0 if they sleep. If n ranks on m cores are always ready
/// to run, each queues for 1 - m/n of the time in which these cores do not run other programs. The
/// estimate is the queued time, without that behind other programs, divided by this maximum.
/// `others_s` holds, for each node, the CPU time of other programs in the phase.
double waiting_actively(const MeasuredPhase& phase, const NodeSizes& nodes,
                        const std::vector<double>& others_s) {
  double queued_s = 0, most_s = 0;
  for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
    const NodeId node = nodes.of_rank[r];
    const double cores = nodes.cores[node];
    const double own_s = std::max(0.0, phase.ranks[r].wall_s - others_s[node] / cores);
    most_s += own_s * std::max(0.0, 1 - cores / nodes.ranks[node]);
    queued_s += phase.ranks[r].queued_s;
  }
  return most_s > 0 ? std::min(1.0, queued_s / most_s) : 0;
}

/// The time lost because waiting ranks keep their cores, if the kernel moves the ranks of crowded
/// nodes between cores. The phase lasts longer than its work would take on evenly shared cores
/// (`least_s`). The lost time is this difference multiplied by `activity`, which is from 0 to 1.
double spun_freely_s(const MeasuredPhase& phase, double activity, double least_s) {
  double wall_s = 0;
  for (const RankTimes& rank : phase.ranks) wall_s += rank.wall_s / phase.ranks.size();
  return activity * std::max(0.0, wall_s - least_s);
}

/// The time that bound ranks lost because other ranks of their core spun in MPI: the product of
/// `exposed_s` (the time in which the busiest rank does not compute) and the degree of spinning,
/// from 0 to 1. This degree is the time for which ranks queued for their core while they were in
/// MPI, divided by its maximum. The maximum is reached if all k ranks of a core always spin: each
/// of them then queues for 1 - 1/k of its time in MPI.
double spun_in_mpi_s(const MeasuredPhase& phase, const Placement& placement, double exposed_s) {
  std::map<PlaceId, double> ranks_at;
  for (const PlaceId place : placement.places()) ++ranks_at[place];
  double queued_s = 0, most_s = 0;
  for (std::uint32_t r = 0; r < phase.ranks.size(); ++r) {
    const double sharers = ranks_at[placement.of(r)];
    // A rank with a core of its own queues only because of other programs.
    if (sharers < 2) continue;
    const RankTimes& rank = phase.ranks[r];
    queued_s += std::max(0.0, rank.queued_s - (rank.useful_s - rank.load_s));
    most_s += (rank.wall_s - rank.useful_s) * (1 - 1 / sharers);
  }
  return most_s > 0 ? std::min(1.0, queued_s / most_s) * exposed_s : 0;
}

/// Widens the interval of a saving downwards to nothing.
void may_be_nothing(Seconds& saved) {
  saved.value /= 2;
  saved.half_width = std::max(saved.half_width, saved.value);
}

/// Advice: move threads between cores with `poise juggle`. The lower end of the saving is from a
/// simulation, in which threads move only in iterations longer than the balancer's period. The
/// upper end assumes that threads use all cores evenly even in shorter iterations. Threads of ranks
/// that sleep while they wait do so; threads of ranks that spin while they wait do not.
Advice juggle(const MeasuredRun& run, const Trace& trace, const NodeSizes& nodes,
              const ReplayedRun& replay) {
  const std::vector<double> phases_s = phase_times_s(run);
  const double run_s = std::accumulate(phases_s.begin(), phases_s.end(), 0.0);
  std::vector<double> uneven_s, saved_s = replay.juggled_times_s();
  double all_s = 0, asleep_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const double core_s = fullest_core_s(run.phases[p], trace.phases[p].placement);
    uneven_s.push_back(std::max(0.0, core_s - shared_s(run.phases[p], nodes)));
    all_s += uneven_s.back();
    const std::vector<double> others_s = others_in(run, nodes, phases_s[p], run_s);
    asleep_s += uneven_s.back() * (1 - waiting_actively(run.phases[p], nodes, others_s));
  }
  for (std::size_t k = 0; k < saved_s.size(); ++k) {
    const std::size_t p = replay.phases()[k];
    saved_s[k] = fullest_core_s(run.phases[p], trace.phases[p].placement) - saved_s[k];
  }
  const Seconds moved = sum_over_run(saved_s, replay.phases(), uneven_s);
  const double least_s = std::clamp(moved.value, 0.0, all_s);
  const double most_s = std::max(least_s, asleep_s);
  return {
      Remedy::juggle, {(most_s + least_s) / 2, (most_s - least_s) / 2 + moved.half_width}, false};
}

}  // namespace

NodeSizes node_sizes(const Trace& trace) {
  NodeSizes nodes;
  const Machine& machine = *trace.machine;
  nodes.ranks.resize(machine.num_nodes());
  nodes.cores.resize(machine.num_nodes());
  for (PlaceId p = 0; p < machine.num_places(); ++p) ++nodes.cores[machine.node_of_place(p)];
  for (const PlaceId p : trace.phases[0].placement.places()) {
    ++nodes.ranks[machine.node_of_place(p)];
    nodes.of_rank.push_back(machine.node_of_place(p));
  }
  return nodes;
}

std::optional<double> idle_on_shared_cores_s(const MeasuredRun& run, const NodeSizes& nodes) {
  double cores = 0;
  for (std::size_t n = 0; n < nodes.cores.size(); ++n)
    cores += std::min(nodes.ranks[n], nodes.cores[n]);
  if (cores == run.num_ranks()) return std::nullopt;
  double idle_s = 0;
  const std::vector<double> times_s = phase_times_s(run);
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    double work_s = 0;
    for (const RankTimes& rank : run.phases[p].ranks) work_s += rank.load_s;
    idle_s += std::max(0.0, times_s[p] - work_s / cores);
  }
  return idle_s;
}

void limit_on_shared_cores(std::vector<Advice>& advice, double idle_s) {
  for (Advice& each : advice) {
    Seconds& saved = each.saved;
    const double least_s = saved.value - saved.half_width;
    saved.value = std::min(saved.value, idle_s);
    if (each.is_bound) continue;
    if (each.remedy == Remedy::exclusive || each.remedy == Remedy::quota) {
      saved.half_width = std::max(0.0, saved.value - least_s);
      continue;
    }
    may_be_nothing(saved);
  }
}

void add_advice_on_crowded_nodes(const MeasuredRun& run, const Trace& trace, const NodeSizes& nodes,
                                 const ReplayedRun& replay, std::vector<Advice>& advice) {
  if (!is_crowded(nodes)) return;
  const bool are_free = are_crowded_ranks_free(run, nodes);
  const std::vector<double> exposed_s = exposed_times_s(run), phases_s = phase_times_s(run);
  const double run_s = std::accumulate(phases_s.begin(), phases_s.end(), 0.0);
  double spun_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const MeasuredPhase& phase = run.phases[p];
    // With fewer ranks, the work and the other programs stay the same. So a phase takes at least as
    // long as both together take on evenly shared cores.
    const std::vector<double> others_s = others_in(run, nodes, phases_s[p], run_s);
    const double least_s = shared_s(phase, nodes, others_s);
    if (are_free) {
      spun_s += spun_freely_s(phase, waiting_actively(phase, nodes, others_s), least_s);
      continue;
    }
    const Placement& placement = trace.phases[p].placement;
    const double lost_s =
        std::max(0.0, largest_useful_s(phase) - fullest_core_s(phase, placement)) +
        spun_in_mpi_s(phase, placement, exposed_s[p]);
    spun_s += std::min(lost_s, std::max(0.0, phases_s[p] - least_s));
  }
  // Up to half of the time that seems lost by spinning may have other causes, such as messages, and
  // a run with fewer ranks may lose that half as well. So the saving lies between half of this time
  // and all of it. If the CPU time of other programs is unknown, they may have caused all of it.
  const double least_share = run.knows_others ? 0.5 : 0;
  advice.push_back({Remedy::fewer_ranks,
                    {(1 + least_share) / 2 * spun_s, (1 - least_share) / 2 * spun_s},
                    false});
  if (!are_free) advice.push_back(juggle(run, trace, nodes, replay));
}

void add_advice_on_binding(const MeasuredRun& run, const Trace& trace, const NodeSizes& nodes,
                           std::vector<Advice>& advice) {
  double computing_s = 0, squares = 0, spun_s = 0;
  std::size_t with_others = 0, with_two_on_a_core = 0;
  if (is_crowded(nodes) || !run.knows_threads || !run.teams.empty()) return;
  const std::vector<double> exposed_s = exposed_times_s(run);
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const MeasuredPhase& phase = run.phases[p];
    const Placement& placement = trace.phases[p].placement;
    std::set<PlaceId> taken;
    bool shares = false, has_two_on_a_core = false;
    for (TaskId r = 0; r < placement.num_tasks(); ++r) {
      const bool has_moved = p > 0 && placement.of(r) != trace.phases[p - 1].placement.of(r);
      has_two_on_a_core = !taken.insert(placement.of(r)).second || has_two_on_a_core;
      shares = has_two_on_a_core || has_moved || shares;
    }
    with_others += shares ? 1 : 0;
    with_two_on_a_core += has_two_on_a_core ? 1 : 0;
    const double queued_s = std::max(0.0, largest_useful_s(phase) - largest(loads_of(phase)));
    computing_s += queued_s;
    squares += queued_s * queued_s;
    spun_s += spun_in_mpi_s(phase, placement, exposed_s[p]);
  }
  // If ranks share or change cores only in few phases, binding would not help.
  if (diagnosis_tuning::kMinSharing * run.phases.size() > with_others) return;
  // Binding saves the time that ranks queue while they compute. It also saves the time in which one
  // rank spins in MPI while another rank needs the core, but only if ranks share a core in more
  // than half of the phases. If they do so more rarely, it may be by chance, for example because
  // another program uses a core.
  if (2 * with_two_on_a_core <= run.phases.size()) spun_s = 0;
  Seconds bound{computing_s + spun_s, 1.96 * std::sqrt(squares) + spun_s / 4};
  // Ranks that queue behind other programs do so on cores of their own as well.
  if (!run.knows_others) may_be_nothing(bound);
  advice.push_back({Remedy::binding, bound, false});
}

}  // namespace poise
