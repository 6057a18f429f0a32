// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/diagnose.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "poise/base/error.h"
#include "poise/diagnosis/lent_run.h"
#include "poise/diagnosis/mapping.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

namespace tuning = diagnosis_tuning;

/// The number of ranks and of cores of each node of the machine.
struct Nodes {
  std::vector<std::uint32_t> ranks, cores;
  std::vector<NodeId> of_rank;
};

Nodes nodes_of(const Trace& trace) {
  Nodes nodes;
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

/// True if any node has more ranks than cores.
bool is_crowded(const Nodes& nodes) {
  for (std::size_t n = 0; n < nodes.cores.size(); ++n)
    if (nodes.ranks[n] > nodes.cores[n]) return true;
  return false;
}

/// The time that a rank waited for other ranks, averaged over all ranks.
Seconds mean_wait(const MeasuredRun& run) {
  double sum = 0, squares = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (const RankTimes& rank : phase.ranks) {
      sum += rank.waited.value;
      squares += rank.waited.half_width * rank.waited.half_width;
    }
  const double n = run.num_ranks();
  return {sum / n, std::sqrt(squares) / n};
}

/// The mean transfer time of all ranks minus the shortest transfer time of any rank, summed over
/// the phases. Part of this difference may be waiting time, for two reasons. A sender may deliver a
/// message only in its next MPI call, which comes late if the sender computes for long. And a rank
/// that polls for messages waits although each of its calls returns at once.
double uneven_transfer_s(const MeasuredRun& run) {
  double uneven_s = 0;
  for (const MeasuredPhase& phase : run.phases) {
    std::vector<double> times_s;
    for (const RankTimes& rank : phase.ranks)
      times_s.push_back(std::max(0.0, rank.wall_s - rank.useful_s - rank.waited.value));
    const double all_s = std::accumulate(times_s.begin(), times_s.end(), 0.0);
    uneven_s += all_s / times_s.size() - *std::min_element(times_s.begin(), times_s.end());
  }
  return uneven_s;
}

/// Limits `saved` to the ranks' mean waiting time plus the uneven part of their transfer times:
/// distributing the work saves no more. It is not known whether the uneven part is waiting time, so
/// the half width is at least half of what this part adds to the saving.
Seconds at_most(Seconds saved, const MeasuredRun& run) {
  if (!run.knows_waiting) return saved;
  const Seconds wait = mean_wait(run);
  if (saved.value <= wait.value) return saved;
  saved.value = std::min(saved.value, wait.value + uneven_transfer_s(run));
  const double uncertain_s = (saved.value - wait.value) / 2;
  saved.half_width = std::max({saved.half_width, wait.half_width, uncertain_s});
  return saved;
}

/// Returns the idle time in the whole run, averaged over the cores, if a node has more ranks than
/// cores; otherwise returns nothing.
std::optional<double> idle_s(const MeasuredRun& run, const Nodes& nodes) {
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

/// Limits the predicted savings to `idle_s` if ranks share cores: even if the work is balanced
/// perfectly, the cores still need time to do it. Ranks that wait actively take core time from
/// ranks that work, so it is unknown how much of the limit balancing can save. Therefore the
/// interval of its saving covers everything from zero to the limit, unless the saving is an upper
/// bound already. Exclusive nodes and a larger quota do not balance: the limit lowers only the
/// upper end of the interval of their saving.
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
    saved.value /= 2;
    saved.half_width = std::max(saved.half_width, saved.value);
  }
}

double largest(std::span<const double> values) {
  return *std::max_element(values.begin(), values.end());
}

std::vector<double> loads_of(const MeasuredPhase& phase) {
  std::vector<double> loads_s;
  for (const RankTimes& rank : phase.ranks) loads_s.push_back(rank.load_s);
  return loads_s;
}

double largest_useful_s(const MeasuredPhase& phase) {
  double s = 0;
  for (const RankTimes& rank : phase.ranks) s = std::max(s, rank.useful_s);
  return s;
}

/// Per phase, the time in which the busiest rank does not compute.
std::vector<double> exposed_times_s(const MeasuredRun& run) {
  std::vector<double> exposed_s = phase_times_s(run);
  for (std::size_t p = 0; p < exposed_s.size(); ++p)
    exposed_s[p] = std::max(0.0, exposed_s[p] - largest_useful_s(run.phases[p]));
  return exposed_s;
}

/// The mean transfer time of the ranks in each phase.
std::vector<double> mean_transfers_s(const MeasuredRun& run) {
  std::vector<double> means_s;
  for (const MeasuredPhase& phase : run.phases) {
    double sum_s = 0;
    for (const RankTimes& rank : phase.ranks)
      sum_s += std::max(0.0, rank.wall_s - rank.useful_s - rank.waited.value);
    means_s.push_back(sum_s / phase.ranks.size());
  }
  return means_s;
}

double sum_of(std::span<const std::size_t> phases, const std::vector<double>& seconds) {
  double sum_s = 0;
  for (const std::size_t phase : phases) sum_s += seconds[phase];
  return sum_s;
}

/// The seconds saved by distributing the work anew, and the fraction of all work that is moved
/// between ranks while the program runs.
struct Distribution {
  Seconds saved;
  double moved_share = 0;
};

/// If the imbalance persists, the work can be distributed once, before the run. Otherwise it has to
/// be distributed again during the run. If it is unknown whether the imbalance persists, the saving
/// lies between the savings of these two ways.
Distribution best_distribution(const Imbalance& i,
                               const std::function<Seconds(bool is_once)>& saving) {
  if (i.kind == ImbalanceKind::persistent) return {saving(true)};
  if (i.kind != ImbalanceKind::unknown) return {saving(false), i.moved_share};
  const Seconds before = saving(true), during = saving(false);
  return {{(before.value + during.value) / 2, std::abs(before.value - during.value) / 2 +
                                                  std::max(before.half_width, during.half_width)}};
}

/// Estimates which fraction (0 to 1) of the transfer time comes after all ranks have computed. The
/// estimate is the mean transfer time of all ranks divided by the transfer time of the busiest
/// rank. It is small if most transfers overlap with the computation of the busiest rank.
double late_transfers(const MeasuredRun& run) {
  double busiest_s = 0;
  for (const MeasuredPhase& phase : run.phases) {
    const RankTimes* busiest = &phase.ranks[0];
    for (const RankTimes& rank : phase.ranks)
      if (rank.load_s > busiest->load_s) busiest = &rank;
    busiest_s += std::max(0.0, busiest->wall_s - busiest->useful_s - busiest->waited.value);
  }
  const std::vector<double> means_s = mean_transfers_s(run);
  const double mean_s = std::accumulate(means_s.begin(), means_s.end(), 0.0);
  return busiest_s > 0 ? std::min(1.0, mean_s / busiest_s) : 1;
}

/// The seconds saved by distributing the work. The upper bound is `by_loads`, the saving by loads
/// alone: it assumes that all messages are sent after all ranks have finished computing. The lower
/// bound comes from the event engine, in which ranks that finish early also send early.
/// late_transfers() determines the point between the two bounds.
Seconds replayed_saving(const MeasuredRun& run, const ReplayedRun& replay,
                        const Imbalance& imbalance, bool is_once, Seconds by_loads) {
  RankLoads before_s;
  for (const MeasuredPhase& phase : run.phases) before_s.push_back(loads_of(phase));
  const RankLoads after_s = distributed_loads_s(run, imbalance, is_once);
  std::vector<double> estimates_s;
  for (std::size_t p = 0; p < before_s.size(); ++p)
    estimates_s.push_back(largest(before_s[p]) - largest(after_s[p]));
  const double factor = replay.factor_for(after_s, sum_of(replay.phases(), mean_transfers_s(run)));
  std::vector<double> saved_s = replay.times_s(before_s, replay.own_places(), factor);
  const std::vector<double> left_s = replay.times_s(after_s, replay.own_places(), factor);
  for (std::size_t k = 0; k < saved_s.size(); ++k) saved_s[k] -= left_s[k];
  const Seconds replayed = sum_over_run(saved_s, replay.phases(), estimates_s);
  const double least_s = std::clamp(replayed.value, 0.0, by_loads.value);
  const double range_s = by_loads.value - least_s, late = late_transfers(run);
  return {least_s + late * range_s,
          by_loads.half_width + replayed.half_width + std::max(late, 1 - late) * range_s};
}

/// Advice: distribute the work by its cost. If the size of the work's memory is known, the time to
/// move this memory during the run is subtracted from the saving.
Advice objects(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
               const ReplayedRun* replay) {
  double bytes = 0;
  const auto& memory = trace.phases.back().workload.memory;
  for (const TaskMemory& task : memory) bytes += task.footprint_bytes;
  const double per_rank = memory.empty() ? 0 : bytes / memory.size();
  const double byte_s = trace.machine ? trace.machine->costs().seconds_per_migrated_byte
                                      : CostModel{}.seconds_per_migrated_byte;
  const auto saving = [&](bool is_once) {
    const Seconds by_loads = is_once ? Seconds{imbalance.persistent_s, imbalance.persistent_error_s}
                                     : Seconds{imbalance.periodic_s, imbalance.periodic_error_s};
    const bool is_replayed = replay != nullptr && replay->is_possible() && run.knows_waiting;
    return is_replayed ? replayed_saving(run, *replay, imbalance, is_once, by_loads) : by_loads;
  };
  const Distribution distribution = best_distribution(imbalance, saving);
  const double moving_s = distribution.moved_share * per_rank * byte_s;
  Seconds saved = at_most(distribution.saved, run);
  saved.value -= moving_s;
  saved.half_width += moving_s;  // a rank's peak memory overestimates the bytes that would move
  return {Remedy::objects, saved, false};
}

/// Advice: lend tasks within a phase. The saving is simulated if that is possible; otherwise it is
/// the most that any runtime could save.
Advice lending(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
               const ReplayedRun* replay) {
  // Lending is not simulated if it could not save enough to be listed.
  std::optional<Seconds> simulated;
  if (replay != nullptr && imbalance.kind != ImbalanceKind::none)
    simulated = saved_by_lending(run, *trace.machine, *replay);
  Seconds saved{imbalance.total_s, imbalance.total_error_s};
  if (simulated) saved = {simulated->value, std::max(saved.half_width, simulated->half_width)};
  return {Remedy::lending, at_most(saved, run), !simulated};
}

/// The shortest time in which the work of a phase can be done if the ranks of each node share its
/// cores evenly. It is at least the longest load of a rank.
double shared_s(const MeasuredPhase& phase, const Nodes& nodes) {
  std::vector<double> sums(nodes.cores.size());
  double longest_s = 0;
  for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
    sums[nodes.of_rank[r]] += phase.ranks[r].load_s;
    longest_s = std::max(longest_s, phase.ranks[r].load_s);
  }
  for (std::size_t n = 0; n < sums.size(); ++n)
    if (nodes.ranks[n] > nodes.cores[n]) longest_s = std::max(longest_s, sums[n] / nodes.cores[n]);
  return longest_s;
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

/// True if the kernel is known to be free to move every rank that runs on a node with more ranks
/// than cores.
bool are_crowded_ranks_free(const MeasuredRun& run, const Nodes& nodes) {
  if (run.is_free.empty()) return false;
  for (std::size_t r = 0; r < nodes.of_rank.size(); ++r) {
    const NodeId node = nodes.of_rank[r];
    if (nodes.ranks[node] > nodes.cores[node] && !run.is_free[r]) return false;
  }
  return true;
}

/// Estimates how actively the ranks of crowded nodes (more ranks than cores) wait: 1 if they always
/// keep their cores while they wait, 0 if they sleep. If n ranks on m cores are always ready to
/// run, each queues for 1 - m/n of the time. The estimate is the queued time divided by this
/// maximum.
double waiting_actively(const MeasuredPhase& phase, const Nodes& nodes) {
  double queued_s = 0, most_s = 0;
  for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
    const NodeId node = nodes.of_rank[r];
    const double cores_per_rank = 1.0 * nodes.cores[node] / nodes.ranks[node];
    most_s += phase.ranks[r].wall_s * std::max(0.0, 1 - cores_per_rank);
    queued_s += phase.ranks[r].queued_s;
  }
  return most_s > 0 ? std::min(1.0, queued_s / most_s) : 0;
}

/// The time lost because waiting ranks keep their cores, if the kernel moves the ranks of crowded
/// nodes between cores. The phase lasts longer than its work would take on evenly shared cores
/// (shared_s()). This difference is multiplied by waiting_actively(), which is from 0 to 1.
double spun_freely_s(const MeasuredPhase& phase, const Nodes& nodes) {
  double wall_s = 0;
  for (const RankTimes& rank : phase.ranks) wall_s += rank.wall_s / phase.ranks.size();
  return waiting_actively(phase, nodes) * std::max(0.0, wall_s - shared_s(phase, nodes));
}

/// The time that bound ranks lost because other ranks of their core spun in MPI: the product of
/// `exposed_s` (the time in which the busiest rank does not compute) and the degree of spinning,
/// from 0 to 1. This degree is the time for which ranks queued for their core while they were in
/// MPI, divided by its maximum. The maximum holds if all k ranks of a core always spin: each of
/// them then queues for 1 - 1/k of its time in MPI.
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

/// Advice: move threads between cores with `poise juggle`. The lower end of the saving is from a
/// simulation, in which threads move only in iterations longer than the balancer's period. The
/// upper end assumes that threads use all cores evenly also in shorter iterations. That happens if
/// ranks sleep while they wait, but not if they wait actively.
Advice juggle(const MeasuredRun& run, const Trace& trace, const Nodes& nodes,
              const ReplayedRun& replay) {
  std::vector<double> uneven_s, saved_s = replay.juggled_times_s();
  double all_s = 0, asleep_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const double core_s = fullest_core_s(run.phases[p], trace.phases[p].placement);
    uneven_s.push_back(std::max(0.0, core_s - shared_s(run.phases[p], nodes)));
    all_s += uneven_s.back();
    asleep_s += uneven_s.back() * (1 - waiting_actively(run.phases[p], nodes));
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

/// Nodes with more ranks than cores lose time in two ways: ranks spin while others need their core,
/// and some cores have one rank more than others. If ranks are not bound to cores, the kernel moves
/// them between cores and so avoids the second loss.
void add_crowded(const MeasuredRun& run, const Trace& trace, const Nodes& nodes,
                 const ReplayedRun& replay, std::vector<Advice>& advice) {
  if (!is_crowded(nodes)) return;
  const bool are_free = are_crowded_ranks_free(run, nodes);
  const std::vector<double> exposed_s = exposed_times_s(run);
  double spun_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const MeasuredPhase& phase = run.phases[p];
    if (are_free) {
      spun_s += spun_freely_s(phase, nodes);
      continue;
    }
    const Placement& placement = trace.phases[p].placement;
    const double lost_s =
        std::max(0.0, largest_useful_s(phase) - fullest_core_s(phase, placement)) +
        spun_in_mpi_s(phase, placement, exposed_s[p]);
    // With fewer ranks the work is the same, so a phase takes at least as long as this work on
    // evenly shared cores. No more than the rest of the phase can be saved.
    const double phase_s = exposed_s[p] + largest_useful_s(phase);
    spun_s += std::min(lost_s, std::max(0.0, phase_s - shared_s(phase, nodes)));
  }
  // Up to half of the time that seems lost by spinning may have other causes, such as messages, and
  // a run with fewer ranks may lose that half as well. So the saving lies between half of this time
  // and all of it.
  advice.push_back({Remedy::fewer_ranks, {0.75 * spun_s, 0.25 * spun_s}, false});
  if (!are_free) advice.push_back(juggle(run, trace, nodes, replay));
}

/// Removes `less_s` of the time for which a rank queued in a phase. The phase lasts as long as
/// before: the part that is removed outside MPI is added to the rank's time in MPI.
void queue_less(RankTimes& rank, double less_s) {
  if (rank.queued_s <= 0) return;
  rank.useful_s -= less_s / rank.queued_s * (rank.useful_s - rank.load_s);
  rank.queued_s -= less_s;
}

/// Returns the run without the time for which ranks queued behind other programs. Only the CPU time
/// of these programs on each node is known (others_s). So this time is removed from the queued
/// times of the node's ranks: the same fraction for every rank and phase.
MeasuredRun without_others(MeasuredRun run) {
  std::vector<double> queued_s(run.others_s.size());
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      queued_s[run.node_of_rank[r]] += phase.ranks[r].queued_s;
  for (MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      const std::uint32_t node = run.node_of_rank[r];
      const double share = std::min(1.0, run.others_s[node] / std::max(queued_s[node], 1e-300));
      queue_less(phase.ranks[r], share * phase.ranks[r].queued_s);
    }
  return run;
}

/// A part of a run in which a rank queued for the fraction `queued` of `wall_s` seconds.
struct Queue {
  double queued = 0, wall_s = 0;
};

/// Returns the fraction f for which the sum of wall_s * min(queued, f) is `sum_s`, or 1 if the sum
/// is smaller than that for every f.
double fraction_with_sum(std::vector<Queue> queues, double sum_s) {
  std::ranges::sort(queues, {}, &Queue::queued);
  double wall_s = 0;
  for (const Queue& queue : queues) wall_s += queue.wall_s;
  for (const Queue& queue : queues) {
    if (sum_s <= queue.queued * wall_s) return sum_s / wall_s;
    sum_s -= queue.queued * queue.wall_s;
    wall_s -= queue.wall_s;
  }
  return 1;
}

/// Returns the run without the time for which the kernel stopped ranks because of a CPU quota. Only
/// the sum of this time over all ranks and phases of a node is known. A quota stops all ranks of a
/// node, whereas other causes make single ranks queue for long. So the sum is divided evenly: each
/// rank was stopped for the same fraction of each phase, or for all of its queued time if that is
/// shorter.
MeasuredRun without_quota(MeasuredRun run) {
  std::vector<std::vector<Queue>> queues(run.quotas.size());
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      if (const RankTimes& rank = phase.ranks[r]; rank.wall_s > 0)
        queues[run.node_of_rank[r]].push_back({rank.queued_s / rank.wall_s, rank.wall_s});
  std::vector<double> stopped;
  for (std::size_t node = 0; node < queues.size(); ++node)
    stopped.push_back(fraction_with_sum(std::move(queues[node]), run.quotas[node].stopped_s));
  for (MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      RankTimes& rank = phase.ranks[r];
      queue_less(rank, std::min(rank.queued_s, stopped[run.node_of_rank[r]] * rank.wall_s));
    }
  return run;
}

/// Advice: ask for a larger CPU quota. `unlimited` is without_quota(run). The kernel stops all
/// ranks of a node at about the same time, so a phase loses the longest time for which any rank was
/// stopped. If ranks are stopped one after the other instead, a rank may catch up while others are
/// stopped. So the lower end of the interval is the mean over the ranks.
Advice larger_quota(const MeasuredRun& run, const MeasuredRun& unlimited) {
  const std::vector<double> phases_s = phase_times_s(run);
  double saved_s = 0, least_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    double most_s = 0, sum_s = 0;
    for (std::size_t r = 0; r < run.num_ranks(); ++r) {
      const double stopped_s =
          run.phases[p].ranks[r].queued_s - unlimited.phases[p].ranks[r].queued_s;
      most_s = std::max(most_s, stopped_s);
      sum_s += stopped_s;
    }
    const double limit_s = std::max(0.0, phases_s[p] - largest_useful_s(unlimited.phases[p]));
    saved_s += std::min(most_s, limit_s);
    least_s += std::min(sum_s / run.num_ranks(), limit_s);
  }
  return {Remedy::quota, {saved_s, saved_s - least_s}, false};
}

/// Advice: keep other programs off the cores of the run. `alone` is without_others(run). What a
/// phase loses depends on when its ranks queue behind other programs, and on how often ranks wait
/// for each other. Inside MPI, where ranks do wait for each other, the prediction is the sum of
/// their queued times, but at most the time in which the busiest rank does not compute. Outside
/// MPI, it is the middle between the queued time of the busiest rank and the sum over all ranks.
/// The lower end of the interval assumes that all ranks queue at the same time. It adds the mean of
/// the queued times inside MPI and the busiest rank's queued time outside.
Advice exclusive(const MeasuredRun& run, const MeasuredRun& alone) {
  const std::vector<double> phases_s = phase_times_s(run), exposed_s = exposed_times_s(run);
  double least_s = 0, low_s = 0, high_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const auto& ranks = run.phases[p].ranks;
    double queued_s = 0, computing_s = 0;  // seconds queued behind other programs: in total, and
                                           // outside MPI
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const RankTimes& other = alone.phases[p].ranks[r];
      queued_s += ranks[r].queued_s - other.queued_s;
      computing_s += ranks[r].useful_s - other.useful_s;
    }
    const double alone_s = largest_useful_s(alone.phases[p]);
    const double busiest_s = largest_useful_s(run.phases[p]) - alone_s;
    const double in_mpi_s = std::max(0.0, queued_s - computing_s);
    least_s += busiest_s + std::min(in_mpi_s / ranks.size(), exposed_s[p]);
    low_s += busiest_s + std::min(in_mpi_s, exposed_s[p]);
    high_s += std::min(computing_s + in_mpi_s, std::max(0.0, phases_s[p] - alone_s));
  }
  const double middle_s = (low_s + std::max(low_s, high_s)) / 2;
  return {Remedy::exclusive, {middle_s, middle_s - least_s}, false};
}

/// Adds the advice to bind ranks if they share or change cores although each could have its own.
/// The advice is to bind each rank to one core, on which ranks with several threads become slower.
void add_binding(const MeasuredRun& run, const Trace& trace, const Nodes& nodes,
                 std::vector<Advice>& advice) {
  double computing_s = 0, squares = 0, spun_s = 0;
  std::size_t with_others = 0, with_two_on_a_core = 0;
  if (is_crowded(nodes) || !run.teams.empty()) return;
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
  // If few phases show ranks that share or change cores, binding would not help.
  if (tuning::kMinSharing * run.phases.size() > with_others) return;
  // Binding saves the time that ranks queue while they compute. It also saves the time in which one
  // rank spins in MPI while another rank needs the core, but only if ranks share a core in more
  // than half of the phases. If they do so more rarely, it may be by chance, for example because
  // another program uses a core.
  if (2 * with_two_on_a_core <= run.phases.size()) spun_s = 0;
  advice.push_back(
      {Remedy::binding, {computing_s + spun_s, 1.96 * std::sqrt(squares) + spun_s / 4}, false});
}

/// The seconds saved by the placement `better` if ranks compute for `loads_s`, and if messages
/// lengthen the run's phases by `exposed_s` at the present placement.
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
/// the ranks' mean transfer time, and that all ranks send at once. The high estimate assumes that
/// messages take all the time in which a phase's busiest rank does not compute, because ranks also
/// wait for ranks whose own transfers made them late.
void add_mapping(const MeasuredRun& run, const Trace& trace, const ReplayedRun& replay,
                 Diagnosis& diagnosis) {
  // A map gives each rank one core, so ranks with several threads would become slower.
  if (!replay.is_possible() || !run.teams.empty()) return;
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
  // If Remedy::lending could not be simulated, its saving is only an upper bound. For a fair
  // comparison, the saving of Remedy::objects is then taken at the upper end of its interval, too.
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

/// Returns the smallest number of cpus that any node's quota pays for, or 0 if there is no quota.
double smallest_quota(const MeasuredRun& run) {
  double least = 0;
  for (const NodeQuota& quota : run.quotas)
    if (quota.cpus > 0 && (least == 0 || quota.cpus < least)) least = quota.cpus;
  return least;
}

}  // namespace

Diagnosis diagnose(const MeasuredRun& run, const Trace& trace) {
  check(run);
  if (trace.phases.size() != run.phases.size() ||
      trace.phases[0].placement.num_tasks() != run.num_ranks())
    fail(
        "the profile has {} ranks and {} phases, but the trace has {} ranks and {} phases; both "
        "must be of the same run",
        run.num_ranks(), run.phases.size(),
        trace.phases.empty() ? 0 : trace.phases[0].placement.num_tasks(), trace.phases.size());
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.knows_waiting = run.knows_waiting;
  std::map<std::string, bool> names;
  for (const MeasuredPhase& phase : run.phases)
    if (!phase.name.empty() && names.try_emplace(phase.name).second)
      diagnosis.named.emplace_back(phase.name, efficiencies(part_named(run, phase.name)));
  diagnosis.imbalance = imbalance_of(run);
  diagnosis.late = late_ranks(run);
  diagnosis.teams = balance_of(run.teams);
  diagnosis.threads = thread_causes(run);
  std::optional<ReplayedRun> replay;
  if (trace.machine) replay.emplace(run, trace);
  diagnosis.advice = {objects(run, trace, diagnosis.imbalance, replay ? &*replay : nullptr),
                      lending(run, trace, diagnosis.imbalance, replay ? &*replay : nullptr)};
  std::optional<MeasuredRun> unlimited, alone;
  // If ranks queued because of a quota or of other programs, `own` is set below to the run without
  // this queued time.
  const MeasuredRun* own = &run;
  if (std::ranges::any_of(run.quotas, [](const NodeQuota& q) { return q.stopped_s > 0; })) {
    unlimited = without_quota(run);
    diagnosis.advice.push_back(larger_quota(run, *unlimited));
    own = &*unlimited;
  }
  if (!run.others_s.empty()) {
    alone = without_others(*own);
    diagnosis.advice.push_back(exclusive(*own, *alone));
    own = &*alone;
  }
  diagnosis.quota_cpus = smallest_quota(run);
  if (replay) {
    const Nodes nodes = nodes_of(trace);
    if (const auto idle = idle_s(run, nodes)) limit_on_shared_cores(diagnosis.advice, *idle);
    for (std::size_t n = 0; n < nodes.ranks.size(); ++n) {
      if (nodes.ranks[n] < diagnosis.ranks_per_node) continue;
      diagnosis.ranks_per_node = nodes.ranks[n];
      diagnosis.cores_per_node = nodes.cores[n];
    }
    add_crowded(*own, trace, nodes, *replay, diagnosis.advice);
    add_binding(*own, trace, nodes, diagnosis.advice);
    add_mapping(run, trace, *replay, diagnosis);
  }
  rank_advice(diagnosis.advice, diagnosis.whole.run_s);
  return diagnosis;
}

}  // namespace poise
