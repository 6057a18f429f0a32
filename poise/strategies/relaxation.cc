#include "poise/strategies/relaxation.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace poise {

namespace {

constexpr TaskId kNobody = ~TaskId{0};

/// A task that talks to hundreds looks only at those it talks to most.
constexpr std::size_t kMaxArcs = 24;

std::vector<double> busy_of_all(const BusyTimes& times, std::uint32_t num_places) {
  std::vector<double> busy_s(num_places);
  for (PlaceId p = 0; p < num_places; ++p) busy_s[p] = std::max(0.0, times.busy_s(p));
  return busy_s;
}

}  // namespace

Relaxation::Relaxation(const Problem& problem, const Placement& start)
    : machine_(problem.machine),
      workload_(problem.workload),
      home_(problem.current),
      times_(problem.machine, problem.workload, problem.costs, start),
      least_busy_(busy_of_all(times_, machine_.num_places())),
      tasks_at_(machine_.num_places()),
      is_open_(machine_.num_places(), false) {
  for (TaskId t = 0; t < workload_.num_tasks(); ++t)
    if (workload_.tasks[t].movable) tasks_at_[times_.place_of(t)].push_back(t);
}

double Relaxation::peak_s() const {
  double peak_s = 0;
  for (PlaceId p = 0; p < machine_.num_places(); ++p) peak_s = std::max(peak_s, times_.busy_s(p));
  return peak_s;
}

double Relaxation::potential(double busy_s) const {
  double base = busy_s / scale_s_, power = 1;
  for (int e = exponent_; e > 0; e >>= 1, base *= base)
    if (e & 1) power *= base;
  return power;
}

double Relaxation::change_of_trial() const {
  double change = 0;
  for (const PlaceId p : times_.touched()) {
    const double before = times_.busy_s(p);
    change += potential(before + times_.change_s(p)) - potential(before);
  }
  return change;
}

std::span<const BusyTimes::Arc> Relaxation::heaviest_arcs(TaskId t) {
  const auto arcs = times_.arcs_of(t);
  if (arcs.size() <= kMaxArcs) return arcs;
  const auto weight = [](const BusyTimes::Arc& arc) {
    return arc.in_s + arc.out_s + arc.in_byte_s + arc.out_byte_s;
  };
  arcs_.assign(arcs.begin(), arcs.end());
  std::nth_element(arcs_.begin(), arcs_.begin() + kMaxArcs, arcs_.end(),
                   [&](const BusyTimes::Arc& a, const BusyTimes::Arc& b) {
                     return std::pair(-weight(a), a.task) < std::pair(-weight(b), b.task);
                   });
  arcs_.resize(kMaxArcs);
  return arcs_;
}

/// The neighbours' places, the least busy place of each enclosing group, and home.
void Relaxation::gather_destinations(TaskId t, PlaceId from) {
  destinations_.clear();
  for (const auto& arc : heaviest_arcs(t)) destinations_.push_back(times_.place_of(arc.task));
  for (std::size_t l = 0; l + 1 < machine_.levels().size(); ++l) {
    const Level& level = machine_.levels()[l];
    const std::uint32_t group = machine_.group_of(l, from);
    destinations_.push_back(
        least_busy_.least_in(level.first_place[group], level.first_place[group + 1]));
  }
  destinations_.push_back(least_busy_.least());
  destinations_.push_back(home_.of(t));
  std::sort(destinations_.begin(), destinations_.end());
  destinations_.erase(std::unique(destinations_.begin(), destinations_.end()), destinations_.end());
}

void Relaxation::keep_if_better(Step& best, TaskId t, TaskId partner, PlaceId to, double limit) {
  const double change = change_of_trial();
  if (change < std::min(best.change, limit)) best = {change, t, partner, to};
}

/// The best move of each task at p, and of each task that sends to one and could come nearer.
void Relaxation::gather_moves(PlaceId p, double limit) {
  for (const TaskId t : tasks_at_[p]) {
    gather_destinations(t, p);
    Step best{0, kNobody, kNobody, p};
    for (const PlaceId to : destinations_) {
      if (to == p) continue;
      times_.try_move(t, to);
      keep_if_better(best, t, kNobody, to, limit);
    }
    if (best.task != kNobody) steps_.push_back(best);
    gather_pulls(t, p, limit);
  }
}

/// The best move, to t's destinations, of each task that sends to t from elsewhere.
void Relaxation::gather_pulls(TaskId t, PlaceId p, double limit) {
  for (const auto& arc : heaviest_arcs(t)) {
    const PlaceId at = times_.place_of(arc.task);
    const bool sends = arc.in_s > 0 || arc.in_byte_s > 0;
    if (!sends || at == p || !workload_.tasks[arc.task].movable) continue;
    Step best{0, kNobody, kNobody, at};
    for (const PlaceId to : destinations_) {
      if (to == at) continue;
      times_.try_move(arc.task, to);
      keep_if_better(best, arc.task, kNobody, to, limit);
    }
    if (best.task != kNobody) steps_.push_back(best);
  }
}

/// Exchanges that would even out p and another place: partners whose load differs by about half of
/// what their places differ by.
void Relaxation::gather_swaps(PlaceId p, double limit) {
  for (const TaskId t : tasks_at_[p]) {
    gather_destinations(t, p);
    Step best{0, kNobody, kNobody, p};
    for (const PlaceId to : destinations_) {
      if (to == p) continue;
      const double wanted_s =
          workload_.tasks[t].load_s - (times_.busy_s(p) - times_.busy_s(to)) / 2;
      TaskId nearest = kNobody;
      for (const TaskId u : tasks_at_[to]) {
        const auto distance = [&](TaskId v) {
          return std::abs(workload_.tasks[v].load_s - wanted_s);
        };
        if (nearest == kNobody || distance(u) < distance(nearest)) nearest = u;
      }
      if (nearest == kNobody) continue;
      times_.try_swap(t, nearest);
      keep_if_better(best, t, nearest, to, limit);
    }
    if (best.task != kNobody) steps_.push_back(best);
  }
}

void Relaxation::open(PlaceId p) {
  is_open_[p] = true;
  queue_.push({times_.busy_s(p), p});
}

void Relaxation::relocate(TaskId t, PlaceId to) {
  auto& row = tasks_at_[times_.place_of(t)];
  *std::find(row.begin(), row.end(), t) = row.back();
  row.pop_back();
  tasks_at_[to].push_back(t);
  times_.move(t, to);
  for (const PlaceId p : times_.touched()) {
    least_busy_.set(p, std::max(0.0, times_.busy_s(p)));
    if (times_.change_s(p) > 0 || p == to) open(p);
  }
}

/// Takes the steps found for p, best first, as far as they still gain after those before them.
bool Relaxation::relax(PlaceId p, const Stage& stage) {
  const double limit = -stage.least_gain * potential(times_.busy_s(p));
  steps_.clear();
  gather_moves(p, limit);
  if (steps_.empty() && stage.swaps) gather_swaps(p, limit);
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return std::tie(a.change, a.task, a.to) < std::tie(b.change, b.task, b.to);
  });
  bool moved = false;
  for (const Step& step : steps_) {
    const PlaceId from = times_.place_of(step.task);
    if (from == step.to) continue;
    const bool is_swap = step.partner != kNobody;
    if (is_swap && times_.place_of(step.partner) != step.to) continue;
    if (moved) {
      is_swap ? times_.try_swap(step.task, step.partner) : times_.try_move(step.task, step.to);
      if (change_of_trial() > std::min(limit, 0.5 * step.change)) continue;
    }
    relocate(step.task, step.to);
    if (is_swap) relocate(step.partner, from);
    moved = true;
  }
  return moved;
}

void Relaxation::run(const Stage& stage) {
  exponent_ = stage.exponent;
  scale_s_ = peak_s();
  if (scale_s_ == 0) return;
  double peak_s = scale_s_;
  for (PlaceId p = 0; p < machine_.num_places(); ++p) open(p);
  while (!queue_.empty()) {
    const auto [busy_s, p] = queue_.top();
    queue_.pop();
    const bool is_outdated = !is_open_[p] || busy_s != times_.busy_s(p);
    if (is_outdated) continue;
    if (busy_s < stage.floor * peak_s) break;
    is_open_[p] = false;
    if (relax(p, stage))
      open(p);
    else
      peak_s = std::min(peak_s, busy_s);
  }
  queue_ = {};
}

void Relaxation::send_home() {
  const double peak_s = this->peak_s();
  for (TaskId t = 0; t < workload_.num_tasks(); ++t) {
    if (times_.place_of(t) == home_.of(t)) continue;
    const BusyTimes::Effect effect = times_.try_move(t, home_.of(t));
    if (effect.peak_s <= peak_s && effect.traffic_s <= 0) relocate(t, home_.of(t));
  }
}

}  // namespace poise
