// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/surroundings.h"

#include <algorithm>

namespace poise {

Surroundings::Surroundings(const Problem& problem, const BusyTimes& times)
    : machine_(problem.machine),
      workload_(problem.workload),
      times_(times),
      is_flat_inside_(times.costs().is_flat_inside()),
      slot_of_(problem.machine.num_places(), kNone),
      slot_of_domain_(problem.machine.num_domains(), kNone),
      unit_(unit_costs(problem.machine, problem.costs)),
      changes_(times.num_spots()) {
  for (const Place& place : problem.machine.places()) {
    speed_.push_back(place.speed);
    domain_of_.push_back(place.domain);
  }
}

void Surroundings::clear() {
  for (const Near& near : near_) slot_of_[near.place] = kNone;
  for (const NearDomain& domain : domains_) slot_of_domain_[domain.domain] = kNone;
  near_.clear();
  domains_.clear();
  faced_ = kNone;
}

std::uint32_t Surroundings::entry_for(PlaceId p) {
  std::uint32_t& slot = slot_of_[p];
  if (slot != kNone) return slot;
  slot = near_.size();
  const DomainId d = domain_of_[p];
  std::uint32_t& domain = slot_of_domain_[d];
  if (domain == kNone) {
    domain = domains_.size();
    domains_.push_back({d, kNone, {}});
  }
  near_.push_back({p, d, domains_[domain].first, {}, 0, 0, 0});
  domains_[domain].first = slot;
  return slot;
}

void Surroundings::gather(TaskId t) {
  clear();
  from_ = times_.place_of(t);
  load_s_ = workload_.tasks[t].load_s;
  relief_s_ = load_s_ / speed_[from_];
  for (const Arc& arc : times_.arcs_of(t))
    near_[entry_for(times_.place_of(arc.task))].sums.add(
        {arc.in, arc.out, arc.in_bytes, arc.out_bytes});
  for (Near& near : near_) {
    const PairCosts::BothWays costs = times_.costs().both_ways(from_, near.place);
    relief_s_ += costs.own_s(near.sums);
    near.now_s = costs.others_s(near.sums);
    domains_[slot_of_domain_[near.domain]].sums.add(near.sums);
  }
  if (times_.resources()) leave_resources();
  scans_ += times_.arcs_of(t).size() + near_.size() + leaving_.size();
}

inline void Surroundings::change(SpotId spot, double seconds, std::uint8_t why) {
  Change& change = changes_[spot];
  if (change.why == 0) changed_.push_back(spot);
  change.why |= why;
  change.seconds += seconds;
}

void Surroundings::forget_changes() {
  for (const SpotId spot : changed_) changes_[spot] = {};
  changed_.clear();
}

/// Computes for how many seconds the messages in `sums` occupy each shared resource if the task is
/// in domain `own` and its partners are in domain `other`. Adds these seconds, multiplied by
/// `sign`, to the changes of the resources' busy times.
void Surroundings::add_crossings(const MessageSums& sums, DomainId own, DomainId other, double sign,
                                 std::uint8_t why) {
  const auto add = [&](DomainId from, DomainId to, double count, double bytes) {
    if (count == 0 && bytes == 0) return;
    times_.resources()->for_each_crossed(
        from, to, [&](ResourceId r, double s_per_message, double s_per_byte) {
          change(machine_.num_places() + r, sign * (count * s_per_message + bytes * s_per_byte),
                 why);
        });
  };
  add(other, own, sums.in, sums.in_bytes);
  add(own, other, sums.out, sums.out_bytes);
}

/// Computes how the busy times of all shared resources would change if the task were removed.
void Surroundings::leave_resources() {
  forget_changes();
  leaving_.clear();
  const DomainId own = domain_of_[from_];
  for (const NearDomain& near : domains_) {
    MessageSums sums = near.sums;
    if (near.domain == own && slot_of_[from_] != kNone) sums.subtract(near_[slot_of_[from_]].sums);
    add_crossings(sums, own, near.domain, -1, kLeft);
  }
  for (const SpotId spot : changed_) leaving_.push_back({spot, changes_[spot].seconds});
}

/// Computes how the busy times of all shared resources change if the task moves into `domain`, to a
/// place that has none of its communication partners.
void Surroundings::arrive_at_resources(DomainId domain) {
  forget_changes();
  for (const Leaving& left : leaving_) change(left.spot, left.seconds, kLeft);
  for (const NearDomain& near : domains_)
    add_crossings(near.sums, domain, near.domain, 1, kArrived);
  arriving_s_ = 0;
  for (const SpotId spot : changed_)
    if ((changes_[spot].why & kArrived) != 0)
      arriving_s_ = std::max(
          arriving_s_, times_.resource_s(spot - machine_.num_places()) + changes_[spot].seconds);
}

/// The weight by which partners' places are ranked: the time that the messages exchanged with a
/// place would take with a latency and bandwidth factor of 1.
double Surroundings::weight_s(const MessageSums& sums) const {
  return (sums.in + sums.out) * unit_.message_s + (sums.in_bytes + sums.out_bytes) * unit_.byte_s;
}

void Surroundings::append_heaviest(std::size_t most, std::vector<PlaceId>& places) {
  if (near_.size() <= most) {
    for (const Near& near : near_) places.push_back(near.place);
    return;
  }
  heaviest_.clear();
  for (const Near& near : near_) heaviest_.push_back({-weight_s(near.sums), near.place});
  const auto end = heaviest_.begin() + most;
  std::nth_element(heaviest_.begin(), end, heaviest_.end());
  for (auto heavy = heaviest_.begin(); heavy != end; ++heavy) places.push_back(heavy->second);
}

}  // namespace poise
