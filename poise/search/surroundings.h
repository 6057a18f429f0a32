// A task's messages summed by place, so that many candidate places can be tried cheaply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "poise/placement/busy_times.h"
#include "poise/placement/problem.h"

namespace poise {

/// What one task exchanges with each place, summed over the tasks there.
///
/// Gathering costs O(neighbours of the task). Between two domains a message costs the same
/// whichever of their places it joins, so candidates in one domain share most of the computation:
/// the first costs O(places with a partner); each further one O(1), or O(such places in its domain)
/// if factors differ inside domains.
class Surroundings {
 public:
  Surroundings(const Problem& problem, const BusyTimes& times);

  /// Selects task t at its current place.
  void gather(TaskId t);

  /// Appends the places that t exchanges most with, at most `most` of them.
  void append_heaviest(std::size_t most, std::vector<PlaceId>& places);

  /// Value of moving t to another place: the sum of worth(place, busy seconds after the move) over
  /// all places whose busy time changes. Ask for places of one domain consecutively, with the same
  /// function.
  template <typename Worth>
  double worth_at(PlaceId to, const Worth& worth);

  /// Lower bound on the busy time of `to` after the move: all messages of t free. O(1).
  double least_busy_s(PlaceId to) const { return times_.busy_s(to) + load_s_ / speed_[to]; }

  /// Entries examined so far: a measure of the time spent.
  std::uint64_t scans() const { return scans_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Near {
    PlaceId place;
    DomainId domain;
    std::uint32_t next;                         // next entry of the same domain, or kNone
    double in_s, out_s, in_byte_s, out_byte_s;  // as in BusyTimes::Arc
    // Cost there of the messages that t sends from its current place.
    double out_now_s;
    double worth;  // worth of the change at this place if t is in the domain `faced_`
  };
  struct NearDomain {
    DomainId domain;
    std::uint32_t first;  // index of its first entry in near_
    double in_s, in_byte_s;
  };

  void clear();
  std::uint32_t entry_for(PlaceId p);
  double change_s(const Near& near, PlaceId to) const {
    return times_.cost_s(near.out_s, near.out_byte_s, to, near.place) - near.out_now_s;
  }
  template <typename Worth>
  void face(DomainId domain, PlaceId to, const Worth& worth);
  template <typename Worth>
  double worth_inside(PlaceId to, const Worth& worth);

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

  // Values that are the same for t at any place of the domain `faced_`.
  DomainId faced_ = kNone;
  double in_outside_s_ = 0,
         in_inside_s_ = 0;        // received from other domains; from this domain if flat
  double worth_of_rest_ = 0;      // sum of the worths that do not depend on the place
  double from_s_ = 0, to_s_ = 0;  // busy times of the two places after the move
};

/// Computes what is the same for t at any place of the domain; `to` is one of them.
template <typename Worth>
void Surroundings::face(DomainId domain, PlaceId to, const Worth& worth) {
  faced_ = domain;
  in_outside_s_ = in_inside_s_ = worth_of_rest_ = 0;
  for (const NearDomain& other : domains_)
    if (other.domain == domain)
      in_inside_s_ = other.in_s + other.in_byte_s;
    else
      in_outside_s_ += times_.cost_s(other.in_s, other.in_byte_s, near_[other.first].place, to);
  const bool is_inside = domain_of_[from_] == domain;
  double from_s = times_.busy_s(from_) - relief_s_;
  for (Near& near : near_) {
    near.worth = 0;
    const bool is_near_inside = near.domain == domain;
    if (is_near_inside && (!is_flat_inside_ || near.place == from_)) continue;
    const double change_s =
        is_near_inside ? near.out_s + near.out_byte_s - near.out_now_s : this->change_s(near, to);
    if (near.place == from_)
      from_s += change_s;
    else if (change_s != 0)
      worth_of_rest_ += near.worth = worth(near.place, times_.busy_s(near.place) + change_s);
  }
  if (!is_inside) worth_of_rest_ += worth(from_, from_s);
  scans_ += near_.size() + domains_.size();
}

/// Sum of the worths that depend on the place inside the domain, except those of from_ and `to`;
/// updates from_s_ and to_s_, the busy times of those two.
template <typename Worth>
double Surroundings::worth_inside(PlaceId to, const Worth& worth) {
  double sum = 0;
  if (is_flat_inside_) {
    to_s_ += in_inside_s_;
    if (const std::uint32_t slot = slot_of_[to]; slot != kNone) {
      const Near& near = near_[slot];
      to_s_ -= near.in_s + near.in_byte_s + near.out_now_s;
      sum -= near.worth;
    }
    if (const std::uint32_t slot = slot_of_[from_]; slot != kNone)
      from_s_ += near_[slot].out_s + near_[slot].out_byte_s;
    return sum;
  }
  const std::uint32_t domain = slot_of_domain_[domain_of_[to]];
  for (std::uint32_t i = domain == kNone ? kNone : domains_[domain].first; i != kNone;
       i = near_[i].next) {
    const Near& near = near_[i];
    to_s_ += times_.cost_s(near.in_s, near.in_byte_s, near.place, to);
    const double change_s = this->change_s(near, to);
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

template <typename Worth>
double Surroundings::worth_at(PlaceId to, const Worth& worth) {
  const DomainId domain = domain_of_[to];
  if (faced_ != domain) face(domain, to, worth);
  ++scans_;
  to_s_ = least_busy_s(to) + in_outside_s_;
  from_s_ = times_.busy_s(from_) - relief_s_;
  double sum = worth_of_rest_ + worth_inside(to, worth) + worth(to, to_s_);
  if (domain_of_[from_] == domain) sum += worth(from_, from_s_);
  return sum;
}

}  // namespace poise
