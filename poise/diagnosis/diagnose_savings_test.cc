// SPDX-License-Identifier: BSD-3-Clause
// Compares the savings that diagnose() predicts for random profiles with those that a slow and
// simple reference implementation computes.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/diagnosis/diagnose.h"
#include "poise/diagnosis/lent_run.h"
#include "poise/diagnosis/mapping.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using Values = std::vector<double>;

template <typename Value>
Values of_ranks(const MeasuredPhase& phase, const Value& value) {
  Values values;
  for (const RankTimes& rank : phase.ranks) values.push_back(std::invoke(value, rank));
  return values;
}

double total(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double mean(const Values& values) { return total(values) / values.size(); }
double largest(const Values& values) { return *std::max_element(values.begin(), values.end()); }
double positive(double value) { return std::max(0.0, value); }

double longest_load_s(const MeasuredPhase& phase) {
  return largest(of_ranks(phase, &RankTimes::load_s));
}
double longest_useful_s(const MeasuredPhase& phase) {
  return largest(of_ranks(phase, &RankTimes::useful_s));
}
double duration_s(const MeasuredPhase& phase) {
  return largest(of_ranks(phase, &RankTimes::wall_s));
}
double exposed_s(const MeasuredPhase& phase) {
  return positive(duration_s(phase) - longest_useful_s(phase));
}
double transfer_s(const RankTimes& rank) {
  return positive(rank.wall_s - rank.useful_s - rank.waited.value);
}
double mean_transfer_s(const MeasuredPhase& phase) { return mean(of_ranks(phase, transfer_s)); }

Values of_phases(const MeasuredRun& run, double (*value)(const MeasuredPhase&)) {
  Values values;
  for (const MeasuredPhase& phase : run.phases) values.push_back(value(phase));
  return values;
}

struct Profile {
  MeasuredRun run;
  Trace trace;
};

/// Places for ranks: on_node[n] of the ranks are on node n. If `is_random`, several ranks may get
/// the same place although another place is free.
Placement placed(const std::vector<std::size_t>& on_node, std::size_t cores, bool is_random,
                 Random& random) {
  std::vector<PlaceId> places;
  for (std::size_t n = 0; n < on_node.size(); ++n)
    for (std::size_t i = 0; i < on_node[n]; ++i)
      places.push_back(n * cores + (is_random ? random.below(cores) : i % cores));
  return Placement(std::move(places));
}

/// A phase in which rank r works for about work_s[r]. All ranks end the phase together. If `waits`
/// is true, ranks in MPI mostly wait for the busiest rank. In a few phases, the last rank only
/// transfers data.
MeasuredPhase random_phase(const Values& work_s, bool waits, Random& random) {
  MeasuredPhase phase{.name = random.below(3) == 0 ? "solve" : ""};
  double last_s = 0;
  for (const double work : work_s) {
    const auto maybe_s = [&] { return random.below(2) == 0 ? work * random.uniform() / 2 : 0; };
    const double load_s = work * random.uniform(0.8, 1.2), outside_s = maybe_s(),
                 inside_s = maybe_s(), useful_s = load_s + outside_s;
    phase.ranks.push_back({.wall_s = useful_s + inside_s,
                           .useful_s = useful_s,
                           .load_s = load_s,
                           .queued_s = outside_s + inside_s});
    last_s = std::max(last_s, useful_s + inside_s);
  }
  last_s *= random.uniform(1, 1.4);
  const double most_s = longest_load_s(phase);
  for (RankTimes& rank : phase.ranks) {
    rank.wall_s = last_s;
    const double low = waits ? 0.95 : 0, high = waits && rank.load_s == most_s ? 0.1 : 1,
                 waited_s = (rank.wall_s - rank.useful_s) * random.uniform(low, high);
    rank.waited = {waited_s, 0.05 * waited_s};
  }
  if (random.below(10) == 0) phase.ranks.back() = {.wall_s = last_s};
  return phase;
}

double queued_on(const MeasuredRun& run, std::uint32_t node) {
  double sum_s = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      if (run.node_of_rank[r] == node) sum_s += phase.ranks[r].queued_s;
  return sum_s;
}

/// A profile of up to 14 phases on up to three nodes with up to four cores each.
Profile random_profile(Random& random) {
  Profile profile;
  auto& [run, trace] = profile;
  const auto happens_once_in = [&](std::uint64_t times) { return random.below(times) == 0; };
  const std::size_t nodes = 1 + random.below(3), cores = 1 + random.below(4),
                    most = happens_once_in(2) ? 2 * cores : cores;
  std::vector<std::size_t> on_node(nodes);
  for (std::size_t& ranks : on_node) ranks = 1 + random.below(most);
  for (std::size_t n = 0; n < nodes; ++n) run.node_of_rank.resize(run.num_ranks() + on_node[n], n);
  trace.num_places = nodes * cores;
  if (!happens_once_in(6))
    trace.machine = machine_from_text(fmt::format("node:{} core:{}", nodes, cores));
  Values work_s(run.num_ranks());
  const double scale = happens_once_in(2) ? 0.1 : 1;
  for (double& work : work_s) work = scale * random.uniform(0.2, 1.5);
  const bool drifts = happens_once_in(2), shares = happens_once_in(2), sends = !happens_once_in(3),
             waits = happens_once_in(2);
  for (std::size_t p = 1 + random.below(14); p > 0; --p) {
    run.phases.push_back(random_phase(work_s, waits, random));
    if (drifts && happens_once_in(3)) std::rotate(work_s.begin(), work_s.begin() + 1, work_s.end());
    Phase& phase = trace.phases.emplace_back();
    phase.placement = placed(on_node, cores, shares && !happens_once_in(3), random);
    phase.workload.tasks.resize(run.num_ranks());
    const TaskId ranks = run.num_ranks();
    for (TaskId r = 0; r < ranks && sends; ++r)
      phase.workload.messages.push_back({r,
                                         static_cast<TaskId>((r + 1 + random.below(ranks)) % ranks),
                                         1 + random.below(3), 1000 + random.below(1'000'000)});
  }
  if (happens_once_in(2))
    for (std::uint32_t r = 0; r < run.num_ranks(); ++r)
      trace.phases.back().workload.memory.push_back({.footprint_bytes = random.below(100'000'000)});
  for (std::uint32_t n = 0; n < nodes; ++n) {
    run.others_s.push_back(random.uniform(0, 1.2) * queued_on(run, n));
    const double cpus = random.below(4);
    run.quotas.push_back(
        {cpus, happens_once_in(3) ? 0 : random.uniform(0, 1.2) * queued_on(run, n)});
  }
  if (happens_once_in(2)) run.others_s.clear();
  if (happens_once_in(2)) run.quotas.clear();
  if (happens_once_in(2)) run.is_free.assign(run.num_ranks(), true);
  if (!run.is_free.empty() && happens_once_in(3))
    run.is_free[random.below(run.num_ranks())] = false;
  if (happens_once_in(6)) run.teams = {{.rank = 0, .work_s = {1, 2}}};
  run.knows_waiting = !happens_once_in(6);
  return profile;
}

/// Removes less_s(node, rank times) seconds from the time for which each rank queued.
template <typename Less>
MeasuredRun queueing_less(MeasuredRun run, const Less& less_s) {
  for (MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      RankTimes& rank = phase.ranks[r];
      if (rank.queued_s == 0) continue;
      const double part = less_s(run.node_of_rank[r], rank) / rank.queued_s;
      rank.useful_s -= part * (rank.useful_s - rank.load_s);
      rank.queued_s -= part * rank.queued_s;
    }
  return run;
}

/// `queue_for` holds, per node, the number of ranks that queue while another program uses a core.
MeasuredRun without_others(const MeasuredRun& run, const Values& queue_for) {
  return queueing_less(run, [&](std::uint32_t node, const RankTimes& rank) {
    const double behind_others_s = queue_for[node] * run.others_s[node];
    return rank.queued_s * std::min(1.0, behind_others_s / queued_on(run, node));
  });
}

/// Finds by bisection the fraction of each phase for which the quota stopped the ranks of a node.
double stopped_share(const MeasuredRun& run, std::uint32_t node) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double sum_s = 0;
    for (const MeasuredPhase& phase : run.phases)
      for (std::size_t r = 0; r < phase.ranks.size(); ++r)
        if (run.node_of_rank[r] == node)
          sum_s += std::min(phase.ranks[r].queued_s, middle * phase.ranks[r].wall_s);
    (sum_s < run.quotas[node].stopped_s ? low : high) = middle;
  }
  return high;
}

MeasuredRun without_quota(const MeasuredRun& run) {
  Values shares;
  for (std::uint32_t node = 0; node < run.quotas.size(); ++node)
    shares.push_back(stopped_share(run, node));
  return queueing_less(run, [&](std::uint32_t node, const RankTimes& rank) {
    return std::min(rank.queued_s, shares[node] * rank.wall_s);
  });
}

Advice larger_quota(const MeasuredRun& run, const MeasuredRun& unlimited) {
  double value_s = 0, least_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    Values stopped_s = of_ranks(run.phases[p], &RankTimes::queued_s);
    for (std::size_t r = 0; r < stopped_s.size(); ++r)
      stopped_s[r] -= unlimited.phases[p].ranks[r].queued_s;
    const double limit_s =
        positive(duration_s(run.phases[p]) - longest_useful_s(unlimited.phases[p]));
    value_s += std::min(positive(largest(stopped_s)), limit_s);
    least_s += std::min(mean(stopped_s), limit_s);
  }
  return {Remedy::quota, {value_s, value_s - least_s}, false};
}

Advice exclusive(const MeasuredRun& run, const MeasuredRun& alone) {
  double low_s = 0, middle_s = 0, high_s = 0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    const MeasuredPhase &with = run.phases[p], &without = alone.phases[p];
    double outside_s = 0, evenly_s = 0, perhaps_s = 0;
    for (std::size_t r = 0; r < with.ranks.size(); ++r) {
      const RankTimes &a = with.ranks[r], &b = without.ranks[r];
      const double inside_s = positive((a.queued_s - a.useful_s) - (b.queued_s - b.useful_s));
      outside_s += a.useful_s - b.useful_s;
      const double mpi_s = a.wall_s - a.useful_s;
      if (run.knows_waiting && mpi_s > 0) evenly_s += inside_s * transfer_s(a) / mpi_s;
      perhaps_s += std::min(inside_s, transfer_s(a));
    }
    const double busiest_s = longest_useful_s(with) - longest_useful_s(without);
    low_s += busiest_s + std::min(evenly_s / with.ranks.size(), exposed_s(with));
    middle_s += busiest_s;
    if (run.knows_waiting) middle_s += std::min(perhaps_s, exposed_s(with));
    high_s +=
        std::min(outside_s + perhaps_s, positive(duration_s(with) - longest_useful_s(without)));
  }
  const double value_s = (middle_s + std::max(middle_s, high_s)) / 2;
  return {Remedy::exclusive, {value_s, value_s - low_s}, false};
}

/// The savings as the comments of diagnose.cc define them.
class Reference {
 public:
  explicit Reference(const Profile& profile)
      : run_(profile.run), trace_(profile.trace), imbalance_(imbalance_of(run_)) {
    if (trace_.machine) replay_.emplace(run_, trace_);
  }

  std::vector<Advice> advice() {
    advice_ = {objects(), lending()};
    MeasuredRun own = run_;
    double stopped_s = 0;
    for (const NodeQuota& quota : run_.quotas) stopped_s += quota.stopped_s;
    if (stopped_s > 0) {
      const MeasuredRun before = std::exchange(own, without_quota(own));
      advice_.push_back(larger_quota(before, own));
    }
    if (!run_.others_s.empty()) {
      Values queue_for(num_nodes(), 1);
      if (replay_)
        for (std::uint32_t n = 0; n < num_nodes(); ++n)
          if (is_crowded(n)) queue_for[n] = 1.0 * ranks_on(n) / cores();
      const MeasuredRun before = std::exchange(own, without_others(own, queue_for));
      advice_.push_back(exclusive(before, own));
    }
    if (replay_) {
      limit_on_shared_cores();
      add_crowded(own);
      add_binding(own);
      add_mapping();
    }
    rank();
    return advice_;
  }

  double mapping_share() const { return mapping_share_; }
  const Placement& map() const { return map_; }

 private:
  std::size_t ranks_on(std::uint32_t node) const {
    return std::count(run_.node_of_rank.begin(), run_.node_of_rank.end(), node);
  }
  std::size_t num_nodes() const { return 1 + run_.node_of_rank.back(); }
  std::size_t cores() const { return trace_.num_places / num_nodes(); }
  bool is_crowded(std::uint32_t node) const { return ranks_on(node) > cores(); }
  bool is_any_crowded() const {
    return std::ranges::any_of(run_.node_of_rank, [&](std::uint32_t n) { return is_crowded(n); });
  }

  Seconds at_most(Seconds saved) const {
    double wait_s = 0, squares = 0, uneven_s = 0;
    for (const MeasuredPhase& phase : run_.phases) {
      const Values transfers_s = of_ranks(phase, transfer_s);
      uneven_s += mean(transfers_s) - *std::min_element(transfers_s.begin(), transfers_s.end());
      for (const RankTimes& rank : phase.ranks) {
        wait_s += rank.waited.value / run_.num_ranks();
        squares += std::pow(rank.waited.half_width / run_.num_ranks(), 2);
      }
    }
    if (!run_.knows_waiting || saved.value <= wait_s) return saved;
    const double value_s = std::min(saved.value, wait_s + uneven_s);
    return {value_s, std::max({saved.half_width, std::sqrt(squares), (value_s - wait_s) / 2})};
  }

  double of_simulated(const Values& values) const {
    double sum = 0;
    for (const std::size_t p : replay_->phases()) sum += values[p];
    return sum;
  }

  /// Seconds by which the run would be shorter if the loads changed from `before` to `after` and
  /// the ranks moved to `places`. Messages lengthen the phases by `messages_s` if the loads are
  /// `fitted` and the ranks are at their present places.
  Seconds shorter(const RankLoads& before, const RankLoads& after, const Placement& places,
                  const RankLoads& fitted, const Values& messages_s,
                  const Values& estimates_s) const {
    const double factor = replay_->factor_for(fitted, of_simulated(messages_s));
    Values saved_s = replay_->times_s(before, replay_->own_places(), factor);
    const Values left_s = replay_->times_s(after, places, factor);
    for (std::size_t k = 0; k < saved_s.size(); ++k) saved_s[k] -= left_s[k];
    return sum_over_run(saved_s, replay_->phases(), estimates_s);
  }

  double late_share() const {
    double busiest_s = 0;
    for (const MeasuredPhase& phase : run_.phases)
      busiest_s += transfer_s(*std::ranges::max_element(phase.ranks, {}, &RankTimes::load_s));
    const double means_s = total(of_phases(run_, mean_transfer_s));
    return busiest_s > 0 ? std::min(1.0, means_s / busiest_s) : 1;
  }

  Seconds saved_by_distributing(bool is_once) const {
    const bool is_named = imbalance_.kind == ImbalanceKind::named;
    Seconds by_loads{imbalance_.periodic_s, imbalance_.periodic_error_s};
    if (is_once) by_loads = {imbalance_.persistent_s, imbalance_.persistent_error_s};
    if (is_once && is_named) by_loads = {imbalance_.named_s, imbalance_.named_error_s};
    if (!replay_ || !replay_->is_possible() || !run_.knows_waiting) return by_loads;
    RankLoads before;
    for (const MeasuredPhase& phase : run_.phases)
      before.push_back(of_ranks(phase, &RankTimes::load_s));
    const RankLoads after = distributed_loads_s(run_, imbalance_, is_once);
    Values estimates_s;
    for (std::size_t p = 0; p < after.size(); ++p)
      estimates_s.push_back(largest(before[p]) - largest(after[p]));
    const Seconds replayed = shorter(before, after, replay_->own_places(), after,
                                     of_phases(run_, mean_transfer_s), estimates_s);
    const double least_s = std::min(positive(replayed.value), by_loads.value),
                 range_s = by_loads.value - least_s, late = late_share();
    return {least_s + late * range_s,
            by_loads.half_width + replayed.half_width + std::max(late, 1 - late) * range_s};
  }

  Advice objects() const {
    Seconds saved;
    double moved = 0, bytes = 0;
    if (imbalance_.kind == ImbalanceKind::persistent || imbalance_.kind == ImbalanceKind::named) {
      saved = saved_by_distributing(true);
    } else if (imbalance_.kind == ImbalanceKind::unknown) {
      const Seconds a = saved_by_distributing(true), b = saved_by_distributing(false);
      saved = {(a.value + b.value) / 2,
               std::abs(a.value - b.value) / 2 + std::max(a.half_width, b.half_width)};
    } else {
      saved = saved_by_distributing(false);
      moved = imbalance_.moved_share;
    }
    const auto& memory = trace_.phases.back().workload.memory;
    for (const TaskMemory& task : memory) bytes += 1.0 * task.footprint_bytes / memory.size();
    const CostModel costs = trace_.machine ? trace_.machine->costs() : CostModel{};
    const double moving_s = moved * bytes * costs.seconds_per_migrated_byte;
    saved = at_most(saved);
    return {Remedy::objects, {saved.value - moving_s, saved.half_width + moving_s}, false};
  }

  Advice lending() const {
    std::optional<Seconds> simulated;
    if (replay_ && imbalance_.kind != ImbalanceKind::none)
      simulated = saved_by_lending(run_, *trace_.machine, *replay_);
    if (!simulated)
      return {Remedy::lending, at_most({imbalance_.total_s, imbalance_.total_error_s}), true};
    const double width_s = std::max(simulated->half_width, imbalance_.total_error_s);
    return {Remedy::lending, at_most({simulated->value, width_s}), false};
  }

  void limit_on_shared_cores() {
    double used = 0, idle_s = 0;
    for (std::uint32_t n = 0; n < num_nodes(); ++n) used += std::min(ranks_on(n), cores());
    if (!is_any_crowded()) return;
    for (const MeasuredPhase& phase : run_.phases)
      idle_s += positive(duration_s(phase) - total(of_ranks(phase, &RankTimes::load_s)) / used);
    for (Advice& each : advice_) {
      const double low_s = each.saved.value - each.saved.half_width,
                   high_s = std::min(each.saved.value, idle_s);
      if (each.is_bound)
        each.saved.value = high_s;
      else if (each.remedy == Remedy::quota || each.remedy == Remedy::exclusive)
        each.saved = {high_s, positive(high_s - low_s)};
      else
        each.saved = {high_s / 2, std::max(each.saved.half_width, high_s / 2)};
    }
  }

  /// Returns the seconds that a phase takes if the ranks of each crowded node share the node's
  /// cores evenly. These cores also do the fraction `part` of other programs' work in the run.
  double shared_s(const MeasuredPhase& phase, double part = 0) const {
    Values sums_s(num_nodes());
    for (std::size_t n = 0; n < run_.others_s.size(); ++n)
      if (is_crowded(n)) sums_s[n] = part * run_.others_s[n] / cores();
    for (std::size_t r = 0; r < phase.ranks.size(); ++r)
      if (is_crowded(run_.node_of_rank[r]))
        sums_s[run_.node_of_rank[r]] += phase.ranks[r].load_s / cores();
    return std::max(longest_load_s(phase), largest(sums_s));
  }

  double fullest_core_s(const MeasuredPhase& phase, const Placement& placement) const {
    Values sums_s(trace_.num_places);
    for (TaskId r = 0; r < phase.ranks.size(); ++r)
      sums_s[placement.of(r)] += phase.ranks[r].load_s;
    return std::min(largest(sums_s), duration_s(phase));
  }

  /// `part` is the length of the phase as a fraction of the run.
  double activity(const MeasuredPhase& phase, double part) const {
    double most_s = 0;
    for (std::size_t r = 0; r < phase.ranks.size(); ++r) {
      const std::uint32_t node = run_.node_of_rank[r];
      const double ranks = ranks_on(node),
                   others_s = run_.others_s.empty() ? 0 : run_.others_s[node];
      most_s += positive(phase.ranks[r].wall_s - part * others_s / cores()) *
                positive(1 - cores() / ranks);
    }
    const double queued_s = total(of_ranks(phase, &RankTimes::queued_s));
    return most_s > 0 ? std::min(1.0, queued_s / most_s) : 0;
  }

  static double spun_in_mpi_s(const MeasuredPhase& phase, const Placement& placement,
                              double exposed_s) {
    double queued_s = 0, most_s = 0;
    for (TaskId r = 0; r < phase.ranks.size(); ++r) {
      const RankTimes& rank = phase.ranks[r];
      const double ranks = std::ranges::count(placement.places(), placement.of(r));
      if (ranks == 1) continue;
      queued_s += positive(rank.queued_s - (rank.useful_s - rank.load_s));
      most_s += (rank.wall_s - rank.useful_s) * (ranks - 1) / ranks;
    }
    return most_s > 0 ? std::min(exposed_s, exposed_s * queued_s / most_s) : 0;
  }

  void add_crowded(const MeasuredRun& own) {
    if (!is_any_crowded()) return;
    bool are_free = !run_.is_free.empty();
    for (std::size_t r = 0; r < run_.is_free.size(); ++r)
      are_free &= run_.is_free[r] || !is_crowded(run_.node_of_rank[r]);
    double spun_s = 0;
    for (std::size_t p = 0; p < own.phases.size(); ++p) {
      const MeasuredPhase& phase = own.phases[p];
      const Placement& placement = trace_.phases[p].placement;
      const double part = duration_s(phase) / total(of_phases(own, duration_s)),
                   core_s = fullest_core_s(phase, placement), even_s = shared_s(phase, part);
      if (are_free)
        spun_s +=
            activity(phase, part) * positive(mean(of_ranks(phase, &RankTimes::wall_s)) - even_s);
      else
        spun_s += std::min(positive(longest_useful_s(phase) - core_s) +
                               spun_in_mpi_s(phase, placement, exposed_s(phase)),
                           positive(exposed_s(phase) + longest_useful_s(phase) - even_s));
    }
    advice_.push_back({Remedy::fewer_ranks, {spun_s * 3 / 4, spun_s / 4}, false});
    if (!are_free) advice_.push_back(juggle(own));
  }

  Advice juggle(const MeasuredRun& own) const {
    Values cores_s, uneven_s, saved_s = replay_->juggled_times_s();
    double asleep_s = 0;
    for (std::size_t p = 0; p < own.phases.size(); ++p) {
      cores_s.push_back(fullest_core_s(own.phases[p], trace_.phases[p].placement));
      uneven_s.push_back(positive(cores_s[p] - shared_s(own.phases[p])));
      const double part = duration_s(own.phases[p]) / total(of_phases(own, duration_s));
      asleep_s += uneven_s[p] * (1 - activity(own.phases[p], part));
    }
    for (std::size_t k = 0; k < saved_s.size(); ++k)
      saved_s[k] = cores_s[replay_->phases()[k]] - saved_s[k];
    const Seconds moved = sum_over_run(saved_s, replay_->phases(), uneven_s);
    const double least_s = std::min(positive(moved.value), total(uneven_s)),
                 most_s = std::max(least_s, asleep_s);
    return {
        Remedy::juggle, {(least_s + most_s) / 2, (most_s - least_s) / 2 + moved.half_width}, false};
  }

  void add_binding(const MeasuredRun& own) {
    if (is_any_crowded() || !run_.teams.empty()) return;
    double queued_s = 0, squares = 0, spun_s = 0, restless = 0, sharing = 0;
    for (std::size_t p = 0; p < own.phases.size(); ++p) {
      const MeasuredPhase& phase = own.phases[p];
      const Placement& now = trace_.phases[p].placement;
      const std::set<PlaceId> taken(now.places().begin(), now.places().end());
      const bool shares = taken.size() < now.num_tasks();
      sharing += shares;
      restless += shares || (p > 0 && now != trace_.phases[p - 1].placement);
      const double lost_s = positive(longest_useful_s(phase) - longest_load_s(phase));
      queued_s += lost_s;
      squares += lost_s * lost_s;
      spun_s += spun_in_mpi_s(phase, now, exposed_s(phase));
    }
    if (restless < 0.1 * own.phases.size()) return;
    if (sharing <= own.phases.size() / 2.0) spun_s = 0;
    advice_.push_back(
        {Remedy::binding, {queued_s + spun_s, 1.96 * std::sqrt(squares) + spun_s / 4}, false});
  }

  void add_mapping() {
    if (!replay_->is_possible() || !run_.teams.empty()) return;
    const Placement now = replay_->own_places();
    const Workload traffic = traffic_of(trace_);
    const Placement better = mapped(*trace_.machine, traffic, now);
    if (better == now) return;
    mapping_share_ = 1 - message_cost(*trace_.machine, traffic, better) /
                             message_cost(*trace_.machine, traffic, now);
    RankLoads useful, even;
    for (const MeasuredPhase& phase : run_.phases) {
      useful.push_back(of_ranks(phase, &RankTimes::useful_s));
      even.emplace_back(phase.ranks.size(), mean(useful.back()));
    }
    const Values means_s = of_phases(run_, mean_transfer_s), all_s = of_phases(run_, exposed_s);
    const Seconds least = shorter(even, even, better, even, means_s, means_s),
                  other = shorter(useful, useful, better, useful, all_s, all_s),
                  most = other.value > least.value ? other : least;
    if (least.value <= 0) return;
    map_ = better;
    const double value_s = std::sqrt(least.value * most.value);
    advice_.push_back(
        {Remedy::mapping, {value_s, value_s - least.value / 2 + most.half_width}, false});
  }

  void rank() {
    const double run_s = total(of_phases(run_, duration_s));
    std::erase_if(advice_, [&](const Advice& each) {
      return each.saved.value < 0.02 * run_s || each.saved.value <= 0.99 * each.saved.half_width;
    });
    if (advice_.empty()) advice_.emplace_back();
    std::ranges::stable_sort(advice_, std::greater<>(),
                             [](const Advice& each) { return each.saved.value; });
    const Advice best = advice_[0];
    std::size_t first = 0;
    for (std::size_t i = 1; i < advice_.size(); ++i) {
      const bool is_objects = advice_[i].remedy == Remedy::objects && best.is_bound;
      const double saved_s =
          advice_[i].saved.value + (is_objects ? advice_[i].saved.half_width : 0);
      if (saved_s >= 0.55 * best.saved.value && advice_[i].remedy < advice_[first].remedy)
        first = i;
    }
    std::rotate(advice_.begin(), advice_.begin() + first, advice_.begin() + first + 1);
  }

  const MeasuredRun& run_;
  const Trace& trace_;
  const Imbalance imbalance_;
  std::optional<ReplayedRun> replay_;
  std::vector<Advice> advice_;
  double mapping_share_ = 0;
  Placement map_;
};

TEST(DiagnoseSavings, predicted_savings_equal_those_of_a_simple_reference_implementation) {
  POISE_SKIP_IF_SLOW();
  std::map<Remedy, int> times;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Profile profile = random_profile(random);
    const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
    Reference reference(profile);
    const std::vector<Advice>&found = diagnosis.advice, expected = reference.advice();
    EXPECT_NEAR(diagnosis.mapping_share, reference.mapping_share(), 1e-9);
    EXPECT_EQ(Placement(diagnosis.map), reference.map());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(static_cast<int>(expected[i].remedy));
      EXPECT_EQ(found[i].remedy, expected[i].remedy);
      EXPECT_NEAR(found[i].saved.value, expected[i].saved.value, 1e-9);
      EXPECT_NEAR(found[i].saved.half_width, expected[i].saved.half_width, 1e-9);
      EXPECT_EQ(found[i].is_bound, expected[i].is_bound);
      ++times[found[i].remedy];
    }
  }
  for (int remedy = 0; remedy <= static_cast<int>(Remedy::lending); ++remedy)
    EXPECT_GE(times[static_cast<Remedy>(remedy)], 3) << remedy;
}

}  // namespace
}  // namespace poise
