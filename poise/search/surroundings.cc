#include "poise/search/surroundings.h"

#include <algorithm>

namespace poise {

Surroundings::Surroundings(const Problem& problem, const BusyTimes& times)
    : workload_(problem.workload),
      times_(times),
      is_flat_inside_(times.is_flat_inside()),
      slot_of_(problem.machine.num_places(), kNone),
      slot_of_domain_(problem.machine.num_domains(), kNone) {
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
  slot = static_cast<std::uint32_t>(near_.size());
  const DomainId d = domain_of_[p];
  std::uint32_t& domain = slot_of_domain_[d];
  if (domain == kNone) {
    domain = static_cast<std::uint32_t>(domains_.size());
    domains_.push_back({d, kNone, 0, 0});
  }
  near_.push_back({p, d, domains_[domain].first, 0, 0, 0, 0, 0, 0});
  domains_[domain].first = slot;
  return slot;
}

void Surroundings::gather(TaskId t) {
  clear();
  from_ = times_.place_of(t);
  load_s_ = workload_.tasks[t].load_s;
  relief_s_ = load_s_ / speed_[from_];
  for (const BusyTimes::Arc& arc : times_.arcs_of(t)) {
    Near& near = near_[entry_for(times_.place_of(arc.task))];
    near.in_s += arc.in_s;
    near.out_s += arc.out_s;
    near.in_byte_s += arc.in_byte_s;
    near.out_byte_s += arc.out_byte_s;
  }
  for (Near& near : near_) {
    relief_s_ += times_.cost_s(near.in_s, near.in_byte_s, near.place, from_);
    near.out_now_s = times_.cost_s(near.out_s, near.out_byte_s, from_, near.place);
    NearDomain& domain = domains_[slot_of_domain_[near.domain]];
    domain.in_s += near.in_s;
    domain.in_byte_s += near.in_byte_s;
  }
  scans_ += times_.arcs_of(t).size() + near_.size();
}

void Surroundings::append_heaviest(std::size_t most, std::vector<PlaceId>& places) {
  if (near_.size() <= most) {
    for (const Near& near : near_) places.push_back(near.place);
    return;
  }
  heaviest_.clear();
  for (const Near& near : near_)
    heaviest_.push_back({-(near.in_s + near.out_s + near.in_byte_s + near.out_byte_s), near.place});
  const auto end = heaviest_.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(heaviest_.begin(), end, heaviest_.end());
  for (auto heavy = heaviest_.begin(); heavy != end; ++heavy) places.push_back(heavy->second);
}

}  // namespace poise
