// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_transport.h"

#include <algorithm>
#include <limits>

namespace poise {

LendingTransport::LendingTransport(const LendingScenario& scenario, Random& random)
    : scenario_(scenario), random_(random) {
  const std::uint32_t nodes =
      (scenario.num_ranks + scenario.ranks_per_node - 1) / scenario.ranks_per_node;
  card_free_s_.resize(nodes);
  bytes_out_.resize(nodes);
  if (scenario.machine) links_.emplace(*scenario.machine);
}

PeerLocality LendingTransport::locality(std::uint32_t self, std::uint32_t other) const {
  if (links_) return links_->locality(place_of(self), place_of(other));
  const std::uint32_t per_node = scenario_.ranks_per_node;
  const bool is_near = other / per_node == self / per_node;
  return {other / per_node * per_node, is_near ? 1 : std::numeric_limits<double>::infinity()};
}

double LendingTransport::max_bytes_out() const { return *std::ranges::max_element(bytes_out_); }

LendingTransport::Passage LendingTransport::carry(std::uint32_t from, std::uint32_t to,
                                                  double bytes, double now_s, double& cpu_s) {
  const std::uint32_t node = node_of(from);
  const bool is_near = node == node_of(to);
  if (!is_near) bytes_out_[node] += bytes;
  if (links_) {
    const double sent_s = now_s + cpu_s;
    const LendingLinks::Passage passage =
        links_->carry(place_of(from), place_of(to), bytes, sent_s);
    cpu_s += passage.sender_s;
    return {.arrival_s = delayed_s(from, to, passage.arrival_s),
            .receiver_s = passage.receiver_s,
            .travel_s = passage.arrival_s - sent_s};
  }
  cpu_s += scenario_.message_overhead_s;
  double at_s = now_s + cpu_s;
  if (!is_near)
    at_s = card_free_s_[node] =
        std::max(card_free_s_[node], at_s) + bytes / scenario_.card_bytes_per_s;
  at_s += is_near ? scenario_.near_latency_s : scenario_.far_latency_s;
  // Without random delays, messages are in order already: each rank, and each network card, sends
  // one message after the other.
  const bool is_delayed = scenario_.max_delay_s > 0 || scenario_.stall_share > 0;
  return {.arrival_s = is_delayed ? delayed_s(from, to, at_s) : at_s,
          .receiver_s = scenario_.message_overhead_s};
}

// Adds the random delays. Messages between two ranks stay in order, as in MPI; others may overtake
// one another.
double LendingTransport::delayed_s(std::uint32_t from, std::uint32_t to, double at_s) {
  at_s += random_.uniform(0, scenario_.max_delay_s);
  if (random_.uniform() < scenario_.stall_share) at_s += scenario_.stall_s;
  double& last_s = last_arrival_s_[std::uint64_t{from} << 32 | to];
  return last_s = std::max(at_s, last_s);
}

}  // namespace poise
