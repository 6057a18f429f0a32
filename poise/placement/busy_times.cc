#include "poise/placement/busy_times.h"

#include <algorithm>
#include <numeric>

#include "poise/placement/metrics.h"

namespace poise {

BusyTimes::BusyTimes(const Machine& machine, const Workload& workload, const CostModel& costs,
                     const Placement& placement)
    : machine_(machine),
      workload_(workload),
      costs_(costs),
      factors_(machine),
      counts_bytes_(costs.seconds_per_byte > 0),
      places_(placement.places().begin(), placement.places().end()),
      change_s_(machine.num_places(), 0),
      is_touched_(machine.num_places(), false) {
  const PlaceTimes times = place_times(machine, workload, costs, placement);
  busy_s_.resize(machine.num_places());
  std::transform(times.work_s.begin(), times.work_s.end(), times.comm_s.begin(), busy_s_.begin(),
                 std::plus<>());
  build_arcs();
}

void BusyTimes::build_arcs() {
  // While row t is filled, first_arc_[t + 1] is its write index.
  first_arc_.assign(workload_.tasks.size() + 2, 0);
  for (const Message& message : workload_.messages) {
    if (message.from == message.to) continue;
    ++first_arc_[message.from + 2];
    ++first_arc_[message.to + 2];
  }
  std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
  arcs_.resize(first_arc_.back());
  for (const Message& message : workload_.messages) {
    if (message.from == message.to) continue;
    const double messages_s = static_cast<double>(message.count) * costs_.seconds_per_message;
    const double bytes_s = static_cast<double>(message.bytes) * costs_.seconds_per_byte;
    arcs_[first_arc_[message.from + 1]++] = {message.to, 0, messages_s, 0, bytes_s};
    arcs_[first_arc_[message.to + 1]++] = {message.from, messages_s, 0, bytes_s, 0};
  }
  first_arc_.pop_back();

  std::size_t kept = 0;
  for (std::size_t t = 0; t + 1 < first_arc_.size(); ++t) {
    const auto begin = arcs_.begin() + static_cast<std::ptrdiff_t>(first_arc_[t]);
    const auto end = arcs_.begin() + static_cast<std::ptrdiff_t>(first_arc_[t + 1]);
    std::sort(begin, end, [](const Arc& a, const Arc& b) { return a.task < b.task; });
    const std::size_t row = kept;
    for (auto arc = begin; arc != end; ++arc) {
      if (kept > row && arcs_[kept - 1].task == arc->task) {
        Arc& merged = arcs_[kept - 1];
        merged.in_s += arc->in_s;
        merged.out_s += arc->out_s;
        merged.in_byte_s += arc->in_byte_s;
        merged.out_byte_s += arc->out_byte_s;
      } else {
        arcs_[kept++] = *arc;
      }
    }
    first_arc_[t] = row;
  }
  first_arc_.back() = kept;
  arcs_.resize(kept);
}

void BusyTimes::add_change(PlaceId p, double seconds) {
  if (!is_touched_[p]) {
    is_touched_[p] = true;
    touched_.push_back(p);
    change_s_[p] = 0;
  }
  change_s_[p] += seconds;
}

void BusyTimes::clear_changes() {
  for (const PlaceId p : touched_) is_touched_[p] = false;
  touched_.clear();
}

double BusyTimes::collect(TaskId t, PlaceId to) {
  const PlaceId from = places_[t];
  const double load_s = workload_.tasks[t].load_s;
  double received_before = 0, received_after = 0, traffic = 0;
  for (const Arc& arc : arcs_of(t)) {
    const PlaceId other = places_[arc.task];
    received_before += cost_s(arc.in_s, arc.in_byte_s, other, from);
    received_after += cost_s(arc.in_s, arc.in_byte_s, other, to);
    const double change = cost_s(arc.out_s, arc.out_byte_s, to, other) -
                          cost_s(arc.out_s, arc.out_byte_s, from, other);
    if (change == 0) continue;
    add_change(other, change);
    traffic += change;
  }
  add_change(from, -load_s / machine_.speed_of(from) - received_before);
  add_change(to, load_s / machine_.speed_of(to) + received_after);
  return traffic + received_after - received_before;
}

BusyTimes::Effect BusyTimes::effect(double traffic_s) const {
  Effect effect{0, traffic_s};
  for (const PlaceId p : touched_)
    effect.peak_s = std::max(effect.peak_s, busy_s_[p] + change_s_[p]);
  return effect;
}

BusyTimes::Effect BusyTimes::try_move(TaskId t, PlaceId to) {
  clear_changes();
  return effect(collect(t, to));
}

BusyTimes::Effect BusyTimes::try_swap(TaskId t, TaskId u) {
  clear_changes();
  const PlaceId place_t = places_[t], place_u = places_[u];
  double traffic = collect(t, place_u);
  places_[t] = place_u;
  traffic += collect(u, place_t);
  places_[t] = place_t;
  return effect(traffic);
}

void BusyTimes::move(TaskId t, PlaceId to) {
  clear_changes();
  collect(t, to);
  places_[t] = to;
  for (const PlaceId p : touched_) busy_s_[p] += change_s_[p];
}

double BusyTimes::traffic_s(TaskId t, PlaceId at) const {
  double seconds = 0;
  for (const Arc& arc : arcs_of(t)) {
    const PlaceId other = places_[arc.task];
    seconds +=
        cost_s(arc.in_s, arc.in_byte_s, other, at) + cost_s(arc.out_s, arc.out_byte_s, at, other);
  }
  return seconds;
}

}  // namespace poise
