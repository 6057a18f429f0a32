// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/busy_times.h"

#include <algorithm>
#include <utility>

#include "poise/placement/domain_pairs.h"
#include "poise/placement/message_times.h"
#include "poise/placement/metrics.h"
#include "poise/placement/new_pairs.h"

namespace poise {

namespace {

double whole_power(double base, int exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}

/// The values that determine how long places wait for messages between two domains.
struct Crossing {
  // Busy time of the slowest resource that messages between the two domains cross.
  double slowest_s = 0;
  SpotId slowest = 0;   // ID of the slowest resource; 0 if the messages cross none
  double busier_s = 0;  // the largest busy time of the places at both ends
  // Latency of a message. Not used for messages inside a domain whose pairs of places have
  // different latency factors: these get the latency of their pair of places.
  double latency_s = 0;
};

}  // namespace

BusyTimes::Shared::Shared(const Machine& machine, const Workload& workload, const CostModel& model)
    : arcs(workload), costs(machine, model, workload.loads_include) {}

BusyTimes::BusyTimes(const Machine& machine, const Workload& workload, const CostModel& costs,
                     const Placement& placement, std::shared_ptr<const Shared> shared)
    : machine_(machine),
      workload_(workload),
      model_(costs),
      shared_(shared ? std::move(shared)
                     : std::make_shared<const Shared>(machine, workload, costs)),
      costs_(shared_->costs),
      places_(placement.places().begin(), placement.places().end()),
      busy_s_(work_s(machine, workload, placement)) {
  if (costs.formula == CostFormula::physical) {
    resources_.emplace(machine, costs);
    latencies_.emplace(machine_, model_, num_entries());
    const MessageTimes times = message_times_without_waiting(machine, workload, costs, placement);
    for (PlaceId p = 0; p < machine.num_places(); ++p) busy_s_[p] += times.overhead_s[p];
    busy_s_.insert(busy_s_.end(), times.resource_s.begin(), times.resource_s.end());
    offset_s_.assign(busy_s_.size(), 0);
    refresh(1);
  } else {
    const PlaceTimes times = place_times(machine, workload, costs, placement);
    for (PlaceId p = 0; p < machine.num_places(); ++p) busy_s_[p] += times.comm_s[p];
  }
  changes_.resize(busy_s_.size());
}

void BusyTimes::refresh(int exponent) {
  if (!resources_) return;
  tried_.reset();
  if (std::exchange(has_moved_, false)) wait_for_resources();
  weigh(exponent);
}

void BusyTimes::wait_for_resources() {
  const PlaceId num_places = machine_.num_places();
  for (SpotId spot = 0; spot < num_spots(); ++spot)
    busy_s_[spot] -= std::exchange(offset_s_[spot], 0);
  exposed_s_.assign(num_places, 0);
  std::vector<double> latency(num_places, 0);
  held_by_.assign(num_places, 0);
  DomainPairs<Crossing> crossings(machine_.num_domains());
  const auto visit = [&](DomainId from, DomainId to, const auto& take) {
    resources_->for_each_crossed(from, to,
                                 [&](ResourceId r, double, double) { take(num_places + r); });
  };
  const auto keep_busier = [&](const auto& entry) {
    visit(entry.from, entry.to,
          [&](SpotId spot) { offset_s_[spot] = std::max(offset_s_[spot], entry.value.busier_s); });
  };
  const auto cross = [&](PlaceId from, PlaceId to) {
    const DomainId here = machine_.domain_of(from), there = machine_.domain_of(to);
    Crossing& crossing = crossings.of(
        here, there,
        [&](DomainId, DomainId) {
          Crossing made{.latency_s = latencies_->of(from, to)};
          visit(here, there, [&](SpotId spot) {
            if (busy_s_[spot] <= made.slowest_s) return;
            made.slowest_s = busy_s_[spot];
            made.slowest = spot;
          });
          return made;
        },
        keep_busier);
    crossing.busier_s = std::max({crossing.busier_s, busy_s_[from], busy_s_[to]});
    for (const PlaceId p : {from, to}) {
      if (crossing.slowest_s <= exposed_s_[p]) continue;
      exposed_s_[p] = crossing.slowest_s;
      held_by_[p] = crossing.slowest;
    }
    latency[to] = std::max(latency[to], here != there || costs_.is_flat_inside()
                                            ? crossing.latency_s
                                            : latency_s(machine_, model_, from, to));
  };
  NewPairs pairs(num_places, num_entries());
  for (TaskId t = 0; t < workload_.num_tasks(); ++t)
    for (const Arc& arc : arcs_of(t)) {
      const PlaceId from = places_[t], to = places_[arc.task];
      if (from != to && (arc.out != 0 || arc.out_bytes != 0) && pairs.insert(from, to))
        cross(from, to);
    }
  crossings.clear(keep_busier);
  for (PlaceId p = 0; p < num_places; ++p) offset_s_[p] = exposed_s_[p] += latency[p];
  for (SpotId spot = 0; spot < num_spots(); ++spot)
    busy_s_[spot] += offset_s_[spot] *= share_exposed();
}

/// Computes the weights of shared resources in the sum that strategies minimise. The terms of this
/// sum are the busy times of places and resources to the power `exponent`. One more second on a
/// resource delays each place that waits for it. Without overlap, the weight of the resource is
/// therefore the sum over these places of (busy time of the place / busy time of the
/// resource)^(exponent - 1).
void BusyTimes::weigh(int exponent) {
  weight_.assign(num_spots(), 1);
  std::vector<double> held(num_spots(), 0);
  for (PlaceId p = 0; p < machine_.num_places(); ++p)
    if (held_by_[p] != 0)
      held[held_by_[p]] +=
          whole_power(std::min(1.0, busy_s_[p] / busy_s_[held_by_[p]]), exponent - 1);
  for (SpotId spot = machine_.num_places(); spot < num_spots(); ++spot)
    if (held[spot] > 0) weight_[spot] = 1 - share_exposed() + share_exposed() * held[spot];
}

double BusyTimes::peak_s() const {
  return busy_s_.empty() ? 0 : std::max(0.0, *std::max_element(busy_s_.begin(), busy_s_.end()));
}

inline BusyTimes::Change& BusyTimes::add_change(SpotId spot, double seconds) {
  Change& change = changes_[spot];
  if (!change.is_touched) {
    change.is_touched = true;
    touched_.push_back(spot);
  }
  change.seconds += seconds;
  return change;
}

/// Adds to the changes of busy times the seconds for which the messages of `arc` occupy resources
/// if its task is at place `own` and the partner is at place `other`. Subtracts them if `sign` is
/// -1.
void BusyTimes::add_crossings(const Arc& arc, PlaceId own, PlaceId other, double sign) {
  if (own == other) return;
  const DomainId here = machine_.domain_of(own), there = machine_.domain_of(other);
  const PlaceId num_places = machine_.num_places();
  const auto add = [&](DomainId from, DomainId to, double count, double bytes) {
    resources_->for_each_crossed(
        from, to, [&](ResourceId r, double s_per_message, double s_per_byte) {
          add_change(num_places + r, sign * (count * s_per_message + bytes * s_per_byte))
              .is_reached |= sign > 0;
        });
  };
  if (arc.in != 0 || arc.in_bytes != 0) add(there, here, arc.in, arc.in_bytes);
  if (arc.out != 0 || arc.out_bytes != 0) add(here, there, arc.out, arc.out_bytes);
}

void BusyTimes::clear_changes() {
  tried_.reset();
  for (const SpotId spot : touched_) changes_[spot] = {};
  touched_.clear();
}

/// Returns the busy time of the slowest resource that messages between places `own` and `other`
/// cross, including the changes collected so far.
double BusyTimes::slowest_s(const Arc& arc, PlaceId own, PlaceId other) const {
  if (own == other) return 0;
  const DomainId here = machine_.domain_of(own), there = machine_.domain_of(other);
  double slowest = 0;
  const auto consider = [&](ResourceId r, double, double) {
    slowest = std::max(slowest, resource_s(r) + change_s(machine_.num_places() + r));
  };
  if (arc.in != 0 || arc.in_bytes != 0) resources_->for_each_crossed(there, here, consider);
  if (arc.out != 0 || arc.out_bytes != 0) resources_->for_each_crossed(here, there, consider);
  return slowest;
}

/// Finds by how much X of place `to` (its waiting time for shared resources) increases if the task
/// whose move was collected last arrives there.
void BusyTimes::find_rise(PlaceId to) {
  double exposed_s = exposed_s_[to];
  for (const SpotId spot : touched_)
    if (std::exchange(changes_[spot].is_reached, false))
      exposed_s = std::max(exposed_s, busy_s_[spot] - offset_s_[spot] + changes_[spot].seconds);
  rise_s_ = exposed_s - exposed_s_[to];
}

void BusyTimes::raise(PlaceId p, double exposed_s) {
  if (exposed_s <= exposed_s_[p]) return;
  const double seconds = share_exposed() * (exposed_s - exposed_s_[p]);
  exposed_s_[p] = exposed_s;
  offset_s_[p] += seconds;
  busy_s_[p] += seconds;
  add_change(p, seconds);
}

double BusyTimes::collect(TaskId t, PlaceId to) {
  const PlaceId from = places_[t];
  const double load_s = workload_.tasks[t].load_s;
  double own_before = 0, own_after = 0, traffic = 0;
  for (const Arc& arc : arcs_of(t)) {
    const PlaceId other = places_[arc.task];
    const PairCosts::BothWays before = costs_.both_ways(from, other),
                              after = costs_.both_ways(to, other);
    own_before += before.own_s(arc);
    own_after += after.own_s(arc);
    if (resources_) {
      add_crossings(arc, from, other, -1);
      add_crossings(arc, to, other, 1);
    }
    const double change = after.others_s(arc) - before.others_s(arc);
    if (change == 0) continue;
    add_change(other, change);
    traffic += change;
  }
  add_change(from, -load_s / machine_.speed_of(from) - own_before);
  add_change(to, load_s / machine_.speed_of(to) + own_after);
  if (resources_) {
    find_rise(to);
    add_change(to, share_exposed() * rise_s_);
  }
  return traffic + own_after - own_before;
}

BusyTimes::Effect BusyTimes::effect(double traffic_s) const {
  Effect effect{0, traffic_s};
  for (const SpotId spot : touched_)
    effect.peak_s = std::max(effect.peak_s, busy_s_[spot] + changes_[spot].seconds);
  return effect;
}

double BusyTimes::least_iteration_s() const {
  double least_s = 0;
  for (const SpotId spot : touched_) {
    const double offset_s = offset_s_.empty() ? 0 : offset_s_[spot];
    least_s = std::max(least_s, busy_s_[spot] - offset_s + changes_[spot].seconds);
  }
  return least_s;
}

double BusyTimes::least_busy_s(TaskId t, PlaceId to) const {
  const PlaceId from = places_[t];
  double saved_s = 0;  // time of messages between t and tasks at `to`, which a move saves
  for (const Arc& arc : arcs_of(t))
    if (places_[arc.task] == to)
      saved_s += costs_.receive_s(arc.out, arc.out_bytes, from, to) +
                 costs_.send_s(arc.in, arc.in_bytes, to, from);
  return busy_s_[to] + workload_.tasks[t].load_s / machine_.speed_of(to) - saved_s;
}

BusyTimes::Effect BusyTimes::try_move(TaskId t, PlaceId to) {
  clear_changes();
  const double traffic_s = collect(t, to);
  tried_ = {t, places_[t], to};
  return effect(traffic_s);
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
  if (tried_ != Migration{t, places_[t], to}) {
    clear_changes();
    collect(t, to);
  }
  tried_.reset();
  reached_s_.clear();
  if (resources_)
    for (const Arc& arc : arcs_of(t)) reached_s_.push_back(slowest_s(arc, to, places_[arc.task]));
  places_[t] = to;
  has_moved_ = true;
  for (const SpotId spot : touched_) busy_s_[spot] += changes_[spot].seconds;
  if (!resources_) return;
  exposed_s_[to] += rise_s_;
  offset_s_[to] += share_exposed() * rise_s_;
  std::size_t i = 0;
  for (const Arc& arc : arcs_of(t)) raise(places_[arc.task], reached_s_[i++]);
}

double BusyTimes::traffic_s(TaskId t, PlaceId at) const {
  double seconds = 0;
  for (const Arc& arc : arcs_of(t)) {
    const PlaceId other = places_[arc.task];
    seconds += costs_.receive_s(arc.in, arc.in_bytes, other, at) +
               costs_.send_s(arc.out, arc.out_bytes, at, other) +
               costs_.receive_s(arc.out, arc.out_bytes, at, other) +
               costs_.send_s(arc.in, arc.in_bytes, other, at);
  }
  return seconds;
}

}  // namespace poise
