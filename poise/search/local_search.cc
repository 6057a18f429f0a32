// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/local_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "poise/base/keep_least.h"

namespace poise {

namespace {

constexpr TaskId kNobody = ~TaskId{0};

std::vector<double> busy_of_all(const BusyTimes& times, std::uint32_t num_places) {
  std::vector<double> busy_s(num_places);
  for (PlaceId p = 0; p < num_places; ++p) busy_s[p] = std::max(0.0, times.busy_s(p));
  return busy_s;
}

}  // namespace

LocalSearch::LocalSearch(const Problem& problem, const Placement& start,
                         std::shared_ptr<const BusyTimes::Shared> shared,
                         std::uint64_t place_cap_bytes, const Tuning& tuning)
    : machine_(problem.machine),
      problem_(problem),
      workload_(problem.workload),
      home_(problem.current),
      tuning_(tuning),
      times_(problem.machine, problem.workload, problem.costs, start, std::move(shared)),
      around_(problem, times_),
      room_(problem, start, place_cap_bytes),
      least_busy_(busy_of_all(times_, machine_.num_places())),
      tasks_at_(machine_.num_places()),
      pinned_at_(machine_.num_places()),
      kept_steps_(machine_.num_places()),
      next_task_(machine_.num_places(), 0),
      by_load_(machine_.num_places()),
      is_open_(machine_.num_places(), false) {
  potential_of_.resize(times_.num_spots());
  for (TaskId t = 0; t < workload_.num_tasks(); ++t)
    (workload_.tasks[t].movable ? tasks_at_ : pinned_at_)[times_.place_of(t)].push_back(t);
}

void LocalSearch::limit_migration(double limit_s) {
  if (!moved_) moved_.emplace(problem_, placement());
  migration_limit_s_ = limit_s;
}

void LocalSearch::remember_shortest(double steps) {
  steps_to_pay_ = steps;
  shortest_s_ = std::numeric_limits<double>::infinity();
  moves_since_.clear();
}

Placement LocalSearch::shortest() const {
  Placement shortest = placement();
  for (auto move = moves_since_.rbegin(); move != moves_since_.rend(); ++move)
    shortest.move(move->task, move->from);
  return shortest;
}

/// Records the total time if it is the shortest so far. peak_s is an upper bound on the busy times
/// of all places.
void LocalSearch::note_total(double peak_s) {
  if (steps_to_pay_ == 0 || is_trial_) return;
  const double total_s = steps_to_pay_ * peak_s + moved_->most_so_far_s();
  if (total_s >= shortest_s_) return;
  shortest_s_ = total_s;
  moves_since_.clear();
}

/// Total time of the placement: the time of the iterations plus an upper bound on the migration
/// time.
double LocalSearch::total_s() {
  refresh();
  return steps_to_pay_ * peak_s() + moved_->seconds();
}

void LocalSearch::start_trials(double steps) {
  steps_to_pay_ = steps;
  shortest_s_ = total_s();
}

double LocalSearch::peak_s() const { return times_.peak_s(); }

double LocalSearch::average_s() const {
  double sum_s = 0;
  for (PlaceId p = 0; p < machine_.num_places(); ++p) sum_s += times_.busy_s(p);
  return sum_s / machine_.num_places();
}

double LocalSearch::power(double busy_s) const {
  double base = busy_s * per_scale_, power = 1;
  for (int e = exponent_; e > 0; e >>= 1, base *= base)
    if (e & 1) power *= base;
  return power;
}

double LocalSearch::change_of_trial() const {
  double change = 0;
  for (const SpotId spot : times_.touched())
    change += potential(spot, times_.busy_s(spot) + times_.change_s(spot)) - potential_of_[spot];
  return change;
}

/// Collects in near_ the least busy place of each group that contains p.
void LocalSearch::gather_places_near(PlaceId p) {
  near_.clear();
  for (std::size_t l = 0; l + 1 < machine_.levels().size(); ++l) {
    const Level& level = machine_.levels()[l];
    const std::uint32_t group = machine_.group_of(l, p);
    near_.push_back(least_busy_.least_in(level.first_place[group], level.first_place[group + 1]));
  }
  near_.push_back(least_busy_.least());
  // If places have cores for only a few tasks, the least busy places may have no free core. In that
  // case near_ gets all places, unless the machine has too many of them.
  if (room_.has_few_cores() && machine_.num_places() <= tuning_.few_places)
    for (PlaceId q = 0; q < machine_.num_places(); ++q) near_.push_back(q);
  if (machine_.network().shape != Network::Shape::tree) gather_near_nodes(p);
}

/// On a network without levels, also collects the least busy place of each of the nearest nodes.
void LocalSearch::gather_near_nodes(PlaceId p) {
  const NodeId node = machine_.node_of_place(p);
  if (std::size_t{machine_.num_nodes()} * machine_.num_nodes() > tuning_.max_table) return;
  auto [found, is_new] = near_nodes_.try_emplace(node);
  std::vector<NodeId>& nodes = found->second;
  if (is_new) {
    for (NodeId other = 0; other < machine_.num_nodes(); ++other)
      if (other != node) nodes.push_back(other);
    const std::size_t kept = std::min(nodes.size(), tuning_.candidates);
    std::partial_sort(nodes.begin(), nodes.begin() + kept, nodes.end(), [&](NodeId a, NodeId b) {
      return std::pair(machine_.network().latency_factor(a, node), a) <
             std::pair(machine_.network().latency_factor(b, node), b);
    });
    nodes.resize(kept);
  }
  for (const NodeId other : nodes)
    near_.push_back(least_busy_.least_in(machine_.first_place(machine_.first_domain(other)),
                                         machine_.first_place(machine_.first_domain(other + 1))));
}

/// Selects task t, which is at place `from`, and collects its possible destinations: the places of
/// the partners with which it communicates most, the least busy places near `from` (near_), and its
/// home (its place in the current placement).
void LocalSearch::gather_destinations(TaskId t, PlaceId from) {
  around_.gather(t);
  destinations_ = near_;
  around_.append_heaviest(tuning_.candidates, destinations_);
  destinations_.push_back(home_.of(t));
  std::sort(destinations_.begin(), destinations_.end());
  destinations_.erase(std::unique(destinations_.begin(), destinations_.end()), destinations_.end());
  std::erase(destinations_, from);
}

/// Tries to move the selected task t to one of the destinations, and keeps the best move if its
/// gain is large enough. Skips moves that would make a place busier than the busiest place is now.
/// The destination with the largest bound on the gain is tried first, then those with bounds above
/// the best gain.
void LocalSearch::try_moves(TaskId t, double limit) {
  const auto worth = [this](SpotId spot, double busy_s) {
    return potential(spot, busy_s) - potential_of_[spot];
  };
  if (around_.least_worth(worth) >= limit) return;
  Step best{limit, kNobody, kNobody, 0};
  const auto try_move = [&](PlaceId to) {
    // If t moves to a place that receives messages from t, this place no longer spends time on
    // them. The saving counts only if the place has pinned tasks: movable tasks could move to the
    // place of t instead.
    const double saved_s = pinned_at_[to].empty() ? 0 : around_.messages_s(to);
    if (around_.least_busy_s(to) - saved_s >= scale_s_ || !can_move(t, to)) return;
    const double change = around_.worth_at(to, worth);
    if (change < best.change) best = {change, t, kNobody, to};
  };
  bounds_.clear();
  for (const PlaceId to : destinations_) bounds_.push_back(around_.least_worth_at(to, worth));
  const auto first = std::min_element(bounds_.begin(), bounds_.end()) - bounds_.begin();
  if (bounds_.empty() || bounds_[first] >= limit) return;
  try_move(destinations_[first]);
  for (std::size_t i = 0; i < destinations_.size(); ++i)
    if (bounds_[i] < best.change && i != static_cast<std::size_t>(first))
      try_move(destinations_[i]);
  if (best.task != kNobody) steps_.push_back(best);
}

/// Finds the best moves of tasks at place p. Examines the tasks in portions of a fixed number of
/// tasks, and stops after the first portion in which some task can move. If no task at p can move,
/// also examines pulls: moves of tasks at other places that send messages to p. Pulls come last
/// because they take several times longer to examine: p often has few tasks, but these have many
/// partners. If the migration time is limited, only a few tasks can move, so pulls are also
/// examined whenever the last task at p has been examined.
void LocalSearch::gather_moves(PlaceId p, double limit) {
  gather_places_near(p);
  const std::vector<TaskId>& tasks = tasks_at_[p];
  std::size_t& next = next_task_[p];
  for (std::size_t i = 0; i < tasks.size() && (steps_.empty() || i % tuning_.portion != 0); ++i) {
    if (next >= tasks.size()) next = 0;
    const TaskId t = tasks[next++];
    gather_destinations(t, p);
    try_moves(t, limit);
  }
  if (steps_.empty() || (moved_ && next >= tasks.size())) gather_pulls(p, limit);
}

/// For each task at another place that sends messages to place p, finds the best move to p or to
/// one of the least busy places near p (near_). Considers a task only if p spends more than least_s
/// on receiving its messages, because otherwise the move cannot gain enough.
void LocalSearch::gather_pulls(PlaceId p, double limit) {
  const double pressure_s = times_.pressure_s(p),
               least_s = -limit / power(pressure_s) * pressure_s / exponent_;
  pulls_.clear();
  const auto list_senders_to = [&](TaskId t) {
    for (const auto& arc : times_.arcs_of(t)) {
      const PlaceId at = times_.place_of(arc.task);
      if (at == p || !workload_.tasks[arc.task].movable) continue;
      const double cost_s = times_.costs().receive_s(arc.in, arc.in_bytes, at, p);
      if (cost_s > 0) pulls_.push_back({arc.task, cost_s});
    }
  };
  for (const TaskId t : tasks_at_[p]) list_senders_to(t);
  for (const TaskId t : pinned_at_[p]) {
    list_senders_to(t);
    scans_of_moves_ += times_.arcs_of(t).size();
  }
  std::sort(pulls_.begin(), pulls_.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pulls_.size(); ++i)
    if (kept > 0 && pulls_[kept - 1].first == pulls_[i].first)
      pulls_[kept - 1].second += pulls_[i].second;
    else
      pulls_[kept++] = pulls_[i];
  pulls_.resize(kept);
  std::erase_if(pulls_, [&](const auto& pull) { return pull.second <= least_s; });
  // From here on, worth_s is the time by which p becomes less busy if t moves to p: the time for
  // receiving the messages from t, which p saves, minus the time for running t.
  for (auto& [t, worth_s] : pulls_) worth_s -= workload_.tasks[t].load_s / machine_.speed_of(p);
  keep_least(pulls_, tuning_.candidates, [](const auto& a, const auto& b) {
    return std::pair(-a.second, a.first) < std::pair(-b.second, b.first);
  });
  for (const auto& [t, worth_s] : pulls_) {
    gather_pull(t, p);
    try_moves(t, limit);
  }
}

/// Selects task t, which is not at place p, and collects its possible destinations: p and the least
/// busy places near p (near_).
void LocalSearch::gather_pull(TaskId t, PlaceId p) {
  around_.gather(t);
  destinations_ = near_;
  destinations_.push_back(p);
  std::erase(destinations_, times_.place_of(t));
}

double LocalSearch::change_of_exchange(TaskId t, TaskId u) {
  times_.try_swap(t, u);
  const std::uint64_t per_arc = times_.resources() ? 4 : 2;
  scans_of_swaps_ += per_arc * (times_.arcs_of(t).size() + times_.arcs_of(u).size());
  return change_of_trial();
}

/// Returns the tasks at place p, sorted by load. Sorts them once; from then on, relist() keeps the
/// order.
const std::vector<std::pair<double, TaskId>>& LocalSearch::tasks_by_load(PlaceId p) {
  auto& tasks = by_load_[p];
  if (tasks.empty() && !tasks_at_[p].empty()) {
    for (const TaskId t : tasks_at_[p]) tasks.push_back({workload_.tasks[t].load_s, t});
    std::sort(tasks.begin(), tasks.end());
    scans_of_swaps_ += 2 * tasks.size();
  }
  return tasks;
}

/// Moves task t from the lists of place `from` to those of place `to`: in tasks_at_, and in
/// by_load_ if it has lists for these places.
void LocalSearch::relist(TaskId t, PlaceId from, PlaceId to) {
  const std::pair entry(workload_.tasks[t].load_s, t);
  if (auto& tasks = by_load_[from]; !tasks.empty())
    tasks.erase(std::lower_bound(tasks.begin(), tasks.end(), entry));
  if (auto& tasks = by_load_[to]; !tasks.empty())
    tasks.insert(std::lower_bound(tasks.begin(), tasks.end(), entry), entry);
  auto& row = tasks_at_[from];
  *std::find(row.begin(), row.end(), t) = row.back();
  row.pop_back();
  tasks_at_[to].push_back(t);
}

/// Returns the tasks at place `to` that are candidates for an exchange with t. The ideal candidate
/// is lighter than t by half the difference of the two places' busy times, which the exchange then
/// makes equal. If the number of cores is not limited, returns only the task nearest to that load,
/// or none if the exchange would not make the busy times more equal. If the number is limited,
/// exchanges may be the only way to move tasks, even if the aim is to reduce traffic. So returns
/// several tasks near that load.
std::span<const std::pair<double, TaskId>> LocalSearch::partners_at(PlaceId to, TaskId t) {
  const auto& partners = tasks_by_load(to);
  const double half_s = (times_.busy_s(times_.place_of(t)) - times_.busy_s(to)) / 2;
  if (partners.empty() || (half_s <= 0 && !room_.has_few_cores())) return {};
  const double wanted_s = workload_.tasks[t].load_s - half_s;
  auto nearest = std::lower_bound(partners.begin(), partners.end(), std::pair(wanted_s, TaskId{0}));
  if (room_.has_few_cores()) {
    const std::size_t before = nearest - partners.begin();
    const std::size_t first = before - std::min(before, tuning_.candidates / 2);
    return std::span(partners).subspan(first,
                                       std::min(tuning_.candidates, partners.size() - first));
  }
  if (nearest == partners.end() ||
      (nearest != partners.begin() &&
       wanted_s - std::prev(nearest)->first <= nearest->first - wanted_s))
    --nearest;
  if (std::abs(nearest->first - wanted_s) >= half_s) return {};
  return {&*nearest, 1};
}

/// For each task at p, finds the best exchange with a task at one of its destinations.
void LocalSearch::gather_swaps(PlaceId p, double limit) {
  // A trial takes a constant time in addition to the time for the messages of its tasks. The
  // constant part matters only if the number of cores is limited, because each task then tries many
  // partners.
  const std::uint64_t per_partner = room_.has_few_cores() ? tuning_.exchange_scans : 0;
  for (const TaskId t : tasks_at_[p]) {
    gather_destinations(t, p);
    Step best{limit, kNobody, kNobody, p};
    for (const PlaceId to : destinations_)
      for (const auto& [load_s, partner] : partners_at(to, t)) {
        scans_of_swaps_ += per_partner;
        if (!can_exchange(t, partner)) continue;
        const double change = change_of_exchange(t, partner);
        if (change < best.change) best = {change, t, partner, to};
      }
    if (best.task != kNobody) steps_.push_back(best);
  }
}

void LocalSearch::open(PlaceId p) {
  is_open_[p] = true;
  queue_.push({times_.pressure_s(p), p});
}

void LocalSearch::relocate(TaskId t, PlaceId to) {
  if (steps_to_pay_ != 0) moves_since_.push_back({t, times_.place_of(t), to});
  relist(t, times_.place_of(t), to);
  times_.move(t, to);
  room_.move(t, to);
  if (moved_) moved_->move(t, to);
  // A move examines each arc at both of its ends. If there are shared resources, it examines each
  // end twice more: for the times of the resources, and for the places that wait for them.
  const std::uint64_t per_arc = times_.resources() ? 6 : 2;
  scans_of_moves_ += per_arc * times_.arcs_of(t).size();
  for (const SpotId spot : times_.touched()) {
    potential_of_[spot] = potential(spot, times_.busy_s(spot));
    if (spot >= machine_.num_places()) continue;  // a shared resource
    least_busy_.set(spot, std::max(0.0, times_.busy_s(spot)));
    if (times_.change_s(spot) > 0 || spot == to) open(spot);
  }
}

/// Carries out the step (move or exchange) that improves place p most. Steps that were found but
/// not carried out are kept for the next visit to p, even in a later stage. Most of them gain less
/// by then, so their old gains serve as upper bounds: a kept step is evaluated again only if its
/// old gain exceeds the best new gain.
bool LocalSearch::improve(PlaceId p, const Stage& stage) {
  const double per_power = 1 / power(times_.pressure_s(p)), limit = -tuning_.min_gain / per_power;
  const auto is_worse = [](const Step& a, const Step& b) {
    return std::tie(a.worth, a.task, a.to) > std::tie(b.worth, b.task, b.to);
  };
  const auto stamp = [&](Step& step) {
    step.num_before = num_steps_;
    step.worth = step.change * per_power;
  };
  std::swap(steps_, kept_steps_[p]);
  const bool is_kept = !steps_.empty();
  if (is_kept) {
    gather_places_near(p);
  } else {
    gather_moves(p, limit);
    if (steps_.empty() && (stage.swaps || room_.has_few_cores())) gather_swaps(p, limit);
    for (Step& step : steps_) stamp(step);
    std::make_heap(steps_.begin(), steps_.end(), is_worse);
  }
  bool has_moved = false;
  while (!steps_.empty() && !has_moved) {
    std::pop_heap(steps_.begin(), steps_.end(), is_worse);
    const Step step = steps_.back();
    steps_.pop_back();
    if (step.num_before == num_steps_) {
      take(step);
      ++num_steps_;
      has_moved = true;
    } else if (evaluate_anew(step, p, limit)) {
      stamp(steps_.back());
      std::push_heap(steps_.begin(), steps_.end(), is_worse);
    }
  }
  std::swap(steps_, kept_steps_[p]);
  steps_.clear();
  return has_moved || is_kept;
}

void LocalSearch::take(const Step& step) {
  const PlaceId from = times_.place_of(step.task);
  relocate(step.task, step.to);
  if (step.partner != kNobody) relocate(step.partner, from);
}

/// Evaluates anew a step (a move or an exchange) that an earlier visit found. An exchange is tried
/// with the same partner; a move is tried with all destinations of its task. If the best result
/// gains enough, appends it to steps_ and returns true.
bool LocalSearch::evaluate_anew(Step step, PlaceId p, double limit) {
  const PlaceId from = times_.place_of(step.task);
  const std::size_t num_steps = steps_.size();
  if (step.partner != kNobody) {
    if (from == step.to || times_.place_of(step.partner) != step.to ||
        !can_exchange(step.task, step.partner))
      return false;
    step.change = change_of_exchange(step.task, step.partner);
    if (step.change < limit) steps_.push_back(step);
  } else if (from == p) {
    gather_destinations(step.task, p);
    try_moves(step.task, limit);
  } else {
    gather_pull(step.task, p);
    try_moves(step.task, limit);
  }
  return steps_.size() > num_steps;
}

/// Finds out again for which shared resources the places wait (BusyTimes::refresh).
void LocalSearch::refresh() {
  times_.refresh(exponent_);
  scans_of_moves_ += times_.num_spots();
  if (times_.resources()) scans_of_moves_ += times_.num_arcs() + workload_.num_tasks();
}

/// Computes all potentials again and marks every place as still to be visited. Returns the busy
/// time of the busiest place.
double LocalSearch::begin() {
  refresh();
  scale_s_ = peak_s();
  if (scale_s_ == 0) return 0;
  per_scale_ = 1 / scale_s_;
  for (SpotId spot = 0; spot < times_.num_spots(); ++spot)
    potential_of_[spot] = potential(spot, times_.busy_s(spot));
  queue_ = {};
  for (PlaceId p = 0; p < machine_.num_places(); ++p) open(p);
  ++num_steps_;  // so that all steps kept so far are evaluated again
  return scale_s_;
}

double LocalSearch::run(const Stage& stage, double max_scans) {
  exponent_ = stage.exponent;
  const std::uint64_t all_before = all_scans();
  if (is_trial_)
    for (auto& steps : kept_steps_) steps.clear();
  double peak_s = begin();  // longest busy time now; after moves, an upper bound on it
  if (peak_s == 0) return 0;
  const double floor = 1 - 1.0 / stage.exponent;
  const std::uint64_t entries = times_.num_arcs() + workload_.num_tasks();
  const double stage_scans = std::min<double>(tuning_.min_scans + tuning_.scans_per_entry * entries,
                                              static_cast<double>(tuning_.max_scans));
  const std::uint64_t last_scan =
      scans() + static_cast<std::uint64_t>(std::clamp(max_scans, 0.0, stage_scans));
  std::uint64_t next_refresh = times_.resources() ? scans() + entries : last_scan;
  bool has_moved = false;  // a task has moved since the last refresh
  double stuck_s = 0;      // longest busy time of a place that could not be improved
  while (!queue_.empty() && scans() < last_scan && all_scans() - all_before < max_scans) {
    if (scans() >= next_refresh) {
      peak_s = begin();
      next_refresh = scans() + entries;
      has_moved = false;
    }
    const auto [busy_s, p] = queue_.top();
    queue_.pop();
    if (!is_open_[p]) continue;
    if (busy_s != times_.pressure_s(p)) {
      // The queue entry is outdated. If other steps relieved the place, it is queued again with its
      // new busy time. If they made it busier, the queue has a newer entry already.
      if (busy_s > times_.pressure_s(p)) open(p);
      continue;
    }
    if (busy_s < floor * peak_s) {
      peak_s = this->peak_s();
      if (busy_s < floor * peak_s) {
        if (!has_moved || !times_.resources()) break;
        // The busy times of resources date from the last refresh(). Since then, places that use a
        // resource have become less busy, so the resource may be less busy, too.
        peak_s = begin();
        scans_of_swaps_ += entries;
        next_refresh = scans() + entries;
        has_moved = false;
        continue;
      }
    }
    is_open_[p] = false;
    note_total(std::max(busy_s, stuck_s));
    if (improve(p, stage)) {
      open(p);
      has_moved = true;
    } else {
      stuck_s = std::max(stuck_s, busy_s);
    }
  }
  if (steps_to_pay_ != 0) note_total(this->peak_s());
  queue_ = {};
  return all_scans() - all_before;
}

double LocalSearch::try_perturbation(Random& random, const Stage& stage, double max_scans) {
  const std::uint64_t before = all_scans();
  moves_since_.clear();
  is_trial_ = true;
  perturb(random);
  run(stage, max_scans);
  const double total_s = this->total_s();
  if (total_s < shortest_s_) {
    shortest_s_ = total_s;
  } else {
    const std::vector<Migration> moves = std::exchange(moves_since_, {});
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) relocate(move->task, move->from);
  }
  is_trial_ = false;
  return all_scans() - before;
}

/// Draws a place at random: with probability 1/2 from the busiest places, otherwise from all places
/// whose busy time is at least (1 - tolerance) * the longest busy time.
PlaceId LocalSearch::one_of_the_busiest(Random& random) const {
  double most_s = 0;
  for (PlaceId p = 0; p < machine_.num_places(); ++p)
    most_s = std::max(most_s, times_.pressure_s(p));
  const double floor_s = (random.below(2) == 0 ? 1 : 1 - tuning_.tolerance) * most_s;
  std::vector<PlaceId> busiest;
  for (PlaceId p = 0; p < machine_.num_places(); ++p)
    if (times_.pressure_s(p) >= floor_s) busiest.push_back(p);
  return busiest[random.below(busiest.size())];
}

void LocalSearch::perturb(Random& random) {
  PlaceId from = one_of_the_busiest(random);
  for (int i = 0; i < tuning_.perturbed_moves; ++i) {
    if (tasks_at_[from].empty()) return;
    const TaskId t = tasks_at_[from][random.below(tasks_at_[from].size())];
    const auto arcs = times_.arcs_of(t);
    const PlaceId to = !arcs.empty() && random.below(2) == 0
                           ? times_.place_of(arcs[random.below(arcs.size())].task)
                           : static_cast<PlaceId>(random.below(machine_.num_places()));
    if (to == from) continue;
    if (!can_move(t, to)) {  // place `to` is full: one of its tasks goes to the place of t
      if (!room_.has_few_cores() || tasks_at_[to].empty()) continue;
      const TaskId partner = tasks_at_[to][random.below(tasks_at_[to].size())];
      if (!can_exchange(t, partner)) continue;
      relocate(partner, from);
    }
    relocate(t, to);
    if (random.below(2) == 0) from = to;
  }
}

}  // namespace poise
