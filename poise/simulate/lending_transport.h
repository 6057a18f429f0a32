// SPDX-License-Identifier: BSD-3-Clause
// The arrival times of messages that simulated ranks send to one another.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "poise/base/random.h"
#include "poise/simulate/lending_links.h"
#include "poise/simulate/lending_scenario.h"

namespace poise {

/// Messages travel over the links of the scenario's machine. Without a machine, the network card of
/// each node sends one byte after the other, and every message has a fixed latency. The random
/// delays of the scenario come on top. The class keeps references to its arguments.
class LendingTransport {
 public:
  LendingTransport(const LendingScenario& scenario, Random& random);

  struct Passage {
    double arrival_s = 0;   // when the receiver can begin to receive
    double receiver_s = 0;  // CPU time to receive the message
    double travel_s = 0;    // time on the machine's links, without random delays; 0: no machine
  };
  /// Sends a message at time now_s + cpu_s, where cpu_s is the CPU time that the sender has used
  /// since now_s. Adds the CPU time of sending to cpu_s. Calls must be in the order of now_s.
  Passage carry(std::uint32_t from, std::uint32_t to, double bytes, double now_s, double& cpu_s);

  /// Returns the location of rank `other` relative to rank `self`.
  PeerLocality locality(std::uint32_t self, std::uint32_t other) const;
  std::uint32_t node_of(std::uint32_t rank) const { return rank / scenario_.ranks_per_node; }
  /// The largest number of bytes that one node has sent to other nodes.
  double max_bytes_out() const;

 private:
  PlaceId place_of(std::uint32_t rank) const {
    return scenario_.places.empty() ? rank : scenario_.places[rank];
  }
  double delayed_s(std::uint32_t from, std::uint32_t to, double at_s);

  const LendingScenario& scenario_;
  Random& random_;
  std::optional<LendingLinks> links_;
  std::vector<double> card_free_s_, bytes_out_;  // by node
  // For each pair of ranks, the arrival time of the last message between them.
  std::unordered_map<std::uint64_t, double> last_arrival_s_;
};

}  // namespace poise
