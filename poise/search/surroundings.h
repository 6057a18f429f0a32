// SPDX-License-Identifier: BSD-3-Clause
// A task's messages summed by place, to evaluate its move to many candidate places fast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "poise/placement/busy_times.h"
#include "poise/placement/problem.h"

namespace poise {

/// The messages between one task and each place, summed over the tasks at that place.
///
/// Gathering the sums costs O(neighbours of the task). Messages between two domains cost the same
/// for all places in these domains, so candidate places in one domain share most of the
/// computation. In each domain, the first candidate costs O(places with a partner + domains with a
/// partner * resources between two domains). Each further candidate costs O(1), or O(places with a
/// partner in its domain) if the costs of messages differ inside a domain.
class Surroundings {
 public:
  Surroundings(const Problem& problem, const BusyTimes& times);

  /// Selects task t, at its current place, for the functions below.
  void gather(TaskId t);

  /// Appends to `places` at most `most` places: those whose tasks exchange the most traffic with t.
  /// Omits places that exchange no traffic with t.
  void append_heaviest(std::size_t most, std::vector<PlaceId>& places);

  /// Returns the value of moving t to another place: the sum of worth(spot, busy seconds after the
  /// move) over all spots (places and shared resources) whose busy time changes. Calls are fast if
  /// all places of one domain are tried one after another with the same function `worth`.
  template <typename Worth>
  double worth_at(PlaceId to, const Worth& worth);

  /// Prepares least_worth_at() for the selected task. worth(spot, busy_s) must increase with
  /// busy_s. Returns a lower bound on worth_at() for all destinations: the value that worth_at()
  /// would have if the task left its place but arrived nowhere. O(places with a partner + resources
  /// that the task's messages cross).
  template <typename Worth>
  double least_worth(const Worth& worth);

  /// Lower bound on worth_at(to, worth): its value if all messages of t were free after the move.
  /// least_worth() must be called before. O(1).
  template <typename Worth>
  double least_worth_at(PlaceId to, const Worth& worth) const;

  /// The present busy time of `to` plus the time for running t there. This minus messages_s(to) is
  /// the busy time of `to` after the move if all messages of t became free, and so it is a lower
  /// bound on the real busy time. O(1).
  double least_busy_s(PlaceId to) const { return times_.busy_s(to) + load_s_ / speed_[to]; }
  /// The seconds that the messages of t currently cost place `to`, which is not the place of t.
  /// O(1).
  double messages_s(PlaceId to) const {
    return slot_of_[to] == kNone ? 0 : near_[slot_of_[to]].now_s;
  }

  /// Number of entries examined so far, as a measure of the time spent.
  std::uint64_t scans() const { return scans_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Messages between the task and one place or domain.
  struct MessageSums {
    double in = 0, out = 0, in_bytes = 0, out_bytes = 0;
    void add(const MessageSums& other) {
      in += other.in, out += other.out, in_bytes += other.in_bytes, out_bytes += other.out_bytes;
    }
    void subtract(const MessageSums& other) {
      in -= other.in, out -= other.out, in_bytes -= other.in_bytes, out_bytes -= other.out_bytes;
    }
  };
  struct Near {
    PlaceId place;
    DomainId domain;
    std::uint32_t next;  // index of the next entry of this domain, or kNone
    MessageSums sums;
    double now_s;        // seconds that the task's messages cost this place before the move
    double least_worth;  // worth of the change at this place if t's messages became free
    double worth;        // worth of the change at this place if t moves into domain faced_
  };
  struct NearDomain {
    DomainId domain;
    std::uint32_t first;  // index of the domain's first entry in near_
    MessageSums sums;
  };
  struct Leaving {
    SpotId spot;
    double seconds;
  };
  struct Change {
    double seconds = 0;
    std::uint8_t why = 0;  // kLeft, kArrived or both
  };

  void clear();
  std::uint32_t entry_for(PlaceId p);
  double weight_s(const MessageSums& sums) const;

  /// Seconds that the messages cost at the task's place (own_s) and at the partners' place
  /// (others_s).
  double own_s(const MessageSums& sums, PlaceId own, PlaceId other) const {
    return times_.costs().receive_s(sums.in, sums.in_bytes, other, own) +
           times_.costs().send_s(sums.out, sums.out_bytes, own, other);
  }
  double others_s(const MessageSums& sums, PlaceId own, PlaceId other) const {
    return times_.costs().receive_s(sums.out, sums.out_bytes, own, other) +
           times_.costs().send_s(sums.in, sums.in_bytes, other, own);
  }
  /// Seconds that messages inside a domain cost at the task's place (own_inside_s) and at the
  /// partners' place (others_inside_s). Valid only if is_flat_inside_ is true.
  double own_inside_s(const MessageSums& sums) const {
    return times_.costs().receive_inside_s(sums.in, sums.in_bytes) +
           times_.costs().send_inside_s(sums.out, sums.out_bytes);
  }
  double others_inside_s(const MessageSums& sums) const {
    return times_.costs().receive_inside_s(sums.out, sums.out_bytes) +
           times_.costs().send_inside_s(sums.in, sums.in_bytes);
  }

  enum : std::uint8_t { kLeft = 1, kArrived = 2 };
  void change(SpotId spot, double seconds, std::uint8_t why);
  void forget_changes();
  void add_crossings(const MessageSums& sums, DomainId own, DomainId other, double sign,
                     std::uint8_t why);
  void leave_resources();
  void arrive_at_resources(DomainId domain);

  template <typename Worth>
  void face(DomainId domain, PlaceId to, const Worth& worth);
  template <typename Worth>
  double worth_inside(PlaceId to, const Worth& worth);
  template <typename Worth>
  double worth_of_same_place(PlaceId to, const Worth& worth) const;

  const Machine& machine_;
  const Workload& workload_;
  const BusyTimes& times_;
  const bool is_flat_inside_;
  std::vector<double> speed_;           // per place
  std::vector<DomainId> domain_of_;     // per place
  std::vector<std::uint32_t> slot_of_;  // per place: index of its entry in near_, or kNone
  std::vector<std::uint32_t> slot_of_domain_;
  std::vector<Near> near_;
  std::vector<NearDomain> domains_;
  std::vector<std::pair<double, PlaceId>> heaviest_;  // scratch of append_heaviest
  PlaceId from_ = 0;
  double load_s_ = 0;
  double relief_s_ = 0;  // seconds that t's place saves if t leaves
  std::uint64_t scans_ = 0;

  double least_worth_ = 0;  // see least_worth()

  // Changes of the busy times of shared resources. leaving_ has the changes when t leaves its
  // place. changes_ also includes the changes when t arrives in the domain of the last destination
  // tried (faced_), at a place where it has no partners.
  std::vector<Leaving> leaving_;
  std::vector<SpotId> changed_;
  double arriving_s_ = 0;  // busy time of the slowest resource that t's messages will cross
  UnitCosts unit_;
  std::vector<Change> changes_;  // for each spot, the change of its busy time

  // The domain of the destination that was tried last. own_outside_s_, own_inside_s_ and
  // worth_of_rest_ are the same for every destination in that domain.
  DomainId faced_ = kNone;
  // The seconds that t's messages with partners outside the domain faced_ cost at t's place if t
  // is in faced_.
  double own_outside_s_ = 0;
  // The seconds that t's messages with partners in the domain faced_ cost at t's place if t is in
  // faced_, but on a place without partners. Used only if is_flat_inside_ is true.
  double own_inside_s_ = 0;
  double worth_of_rest_ = 0;      // the worth of all changes that do not depend on the place
  double from_s_ = 0, to_s_ = 0;  // busy times of t's old and new place after the move
};

template <typename Worth>
double Surroundings::least_worth(const Worth& worth) {
  least_worth_ = worth(from_, times_.busy_s(from_) - relief_s_);
  for (Near& near : near_) {
    near.least_worth =
        near.place == from_ ? 0 : worth(near.place, times_.busy_s(near.place) - near.now_s);
    least_worth_ += near.least_worth;
  }
  if (times_.resources())
    for (const Leaving& left : leaving_)
      least_worth_ += worth(left.spot, times_.busy_s(left.spot) + left.seconds);
  scans_ += near_.size() + leaving_.size();
  return least_worth_;
}

template <typename Worth>
double Surroundings::least_worth_at(PlaceId to, const Worth& worth) const {
  const std::uint32_t slot = slot_of_[to];
  if (slot == kNone) return least_worth_ + worth(to, least_busy_s(to));
  return least_worth_ - near_[slot].least_worth + worth(to, least_busy_s(to) - near_[slot].now_s);
}

/// Prepares worth_at() for all destinations in `domain`: computes the values that are the same for
/// each of them. `to` may be any place in `domain`.
template <typename Worth>
void Surroundings::face(DomainId domain, PlaceId to, const Worth& worth) {
  faced_ = domain;
  own_outside_s_ = own_inside_s_ = worth_of_rest_ = 0;
  for (const NearDomain& other : domains_)
    if (other.domain == domain)
      own_inside_s_ = own_inside_s(other.sums);
    else
      own_outside_s_ += own_s(other.sums, to, near_[other.first].place);
  const bool is_inside = domain_of_[from_] == domain;
  double from_s = times_.busy_s(from_) - relief_s_;
  for (Near& near : near_) {
    near.worth = 0;
    const bool is_near_inside = near.domain == domain;
    if (is_near_inside && (!is_flat_inside_ || near.place == from_)) continue;
    const double change_s =
        (is_near_inside ? others_inside_s(near.sums) : others_s(near.sums, to, near.place)) -
        near.now_s;
    if (near.place == from_)
      from_s += change_s;
    else if (change_s != 0)
      worth_of_rest_ += near.worth = worth(near.place, times_.busy_s(near.place) + change_s);
  }
  if (!is_inside) worth_of_rest_ += worth(from_, from_s);
  scans_ += near_.size() + domains_.size();
  if (!times_.resources()) return;
  arrive_at_resources(domain);
  for (const SpotId spot : changed_)
    if (changes_[spot].seconds != 0)
      worth_of_rest_ += worth(spot, times_.busy_s(spot) + changes_[spot].seconds);
  scans_ += changed_.size();
}

/// Adds up those terms of worth_at() that differ between the places of one domain. Leaves out the
/// terms of the places from_ and `to`, but updates their busy times, from_s_ and to_s_.
template <typename Worth>
double Surroundings::worth_inside(PlaceId to, const Worth& worth) {
  double sum = 0;
  if (is_flat_inside_) {
    to_s_ += own_inside_s_;
    if (const std::uint32_t slot = slot_of_[to]; slot != kNone) {
      const Near& near = near_[slot];
      to_s_ -= own_inside_s(near.sums) + near.now_s;
      sum -= near.worth;
    }
    if (const std::uint32_t slot = slot_of_[from_]; slot != kNone)
      from_s_ += others_inside_s(near_[slot].sums);
    return sum;
  }
  const std::uint32_t domain = slot_of_domain_[domain_of_[to]];
  for (std::uint32_t i = domain == kNone ? kNone : domains_[domain].first; i != kNone;
       i = near_[i].next) {
    const Near& near = near_[i];
    to_s_ += own_s(near.sums, to, near.place);
    const double change_s = others_s(near.sums, to, near.place) - near.now_s;
    if (near.place == from_)
      from_s_ += change_s;
    else if (near.place == to)
      to_s_ += change_s;
    else if (change_s != 0)
      sum += worth(near.place, times_.busy_s(near.place) + change_s);
    ++scans_;
  }
  return sum;
}

/// After the move, messages between t and its partners at `to` stay inside one place and cross no
/// resource. Returns by how much this changes the sum of worth() over all resources.
template <typename Worth>
double Surroundings::worth_of_same_place(PlaceId to, const Worth& worth) const {
  const std::uint32_t slot = slot_of_[to];
  if (!times_.resources() || slot == kNone) return 0;
  const MessageSums& sums = near_[slot].sums;
  double sum = 0;
  times_.resources()->for_each_crossed(
      domain_of_[to], domain_of_[to], [&](ResourceId r, double s_per_message, double s_per_byte) {
        const SpotId spot = machine_.num_places() + r;
        const double free_s = (sums.in + sums.out) * s_per_message +
                              (sums.in_bytes + sums.out_bytes) * s_per_byte,
                     busy_s = times_.busy_s(spot) + changes_[spot].seconds;
        if (free_s == 0) return;
        if (changes_[spot].seconds != 0) sum -= worth(spot, busy_s);
        sum += worth(spot, busy_s - free_s);
      });
  return sum;
}

template <typename Worth>
double Surroundings::worth_at(PlaceId to, const Worth& worth) {
  const DomainId domain = domain_of_[to];
  if (faced_ != domain) face(domain, to, worth);
  ++scans_;
  to_s_ = least_busy_s(to) + own_outside_s_;
  from_s_ = times_.busy_s(from_) - relief_s_;
  if (times_.resources())
    to_s_ += times_.share_exposed() * std::max(0.0, arriving_s_ - times_.exposed_s(to));
  double sum =
      worth_of_rest_ + worth_inside(to, worth) + worth(to, to_s_) + worth_of_same_place(to, worth);
  if (domain_of_[from_] == domain) sum += worth(from_, from_s_);
  return sum;
}

}  // namespace poise
