// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_links.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/placement/message_times.h"
#include "poise/simulate/traffic.h"
#include "poise/simulate/tuning.h"

namespace poise {

LendingLinks::LendingLinks(const Machine& machine)
    : machine_(machine), resources_(machine, machine.costs()), free_s_(resources_.count(), 0) {
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    if (machine.domain_of(p) == first_place_.size()) first_place_.push_back(p);
}

LendingLinks::Passage LendingLinks::carry(PlaceId from, PlaceId to, double bytes, double at_s) {
  const CostModel& costs = machine_.costs();
  const EndTimes ends = end_times(machine_, costs, LoadsInclude::none, 1, bytes, from, to);
  Passage passage{ends.sender_s, ends.receiver_s, 0};
  double first_s = at_s + ends.sender_s + latency_s(machine_, costs, from, to), last_s = first_s;
  const double pieces = std::max(1.0, std::ceil(bytes / simulate_tuning::kPieceBytes));
  find_route(resources_, machine_.domain_of(from), machine_.domain_of(to), crossings_);
  for (const ResourceRates::Crossing& crossing : crossings_) {
    double& free_s = free_s_[resources_.id_of(crossing)];
    const double served_s = crossing.s_per_message + bytes * crossing.s_per_byte;
    const double start_s = pieces > 1 ? std::max(first_s, free_s) : first_s;
    free_s = std::max(free_s, first_s) + served_s;
    // The last piece cannot be served before it has left the previous resource.
    last_s = std::max(start_s + served_s, last_s + served_s / pieces);
    first_s = start_s + served_s / pieces;
  }
  passage.arrival_s = last_s;
  return passage;
}

PeerLocality LendingLinks::locality(PlaceId self, PlaceId other) const {
  const DomainId domain = machine_.domain_of(other);
  const NodeId node = machine_.node_of(domain);
  if (node != machine_.node_of_place(self))
    return {first_place_[machine_.first_domain(node)], std::numeric_limits<double>::infinity()};
  const bool is_near = domain == machine_.domain_of(self);
  return {first_place_[domain], is_near ? 1 : machine_.message_factor(self, other)};
}

}  // namespace poise
