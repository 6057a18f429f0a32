// SPDX-License-Identifier: BSD-3-Clause
// The cost of a mapping of ranks to places: traffic times distance, and traffic of nodes and cards.
#pragma once

#include <cstdint>
#include <string_view>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Ways to measure the distance between two places.
enum class Distance : std::uint8_t {
  hops,     // Machine::hops: number of edges of the machine's tree and network
  factors,  // Machine::message_factor: latency relative to a read of local memory
};
std::string_view name_of(Distance distance);
/// Returns the distance measure with this name; throws Error if there is none.
Distance distance_named(std::string_view name);

/// The distance of a message from one place to another; 0 for the same place.
double distance_between(const Machine& machine, Distance distance, PlaceId from, PlaceId to);

/// The size of a message: its bytes, or the number of messages if no message of the workload has
/// bytes.
class MessageSize {
 public:
  explicit MessageSize(const Workload& workload);
  std::uint64_t operator()(const Message& message) const {
    return counts_messages_ ? message.count : message.bytes;
  }
  bool counts_messages() const { return counts_messages_; }

 private:
  bool counts_messages_ = true;
};

/// Traffic of one phase under a placement, in bytes (or messages, see MessageSize). A message
/// between two nodes counts at both nodes; each direction of a card counts separately.
struct MapCost {
  double traffic = 0;  // sum over messages of bytes times distance
  std::uint64_t internode_bytes = 0;
  std::uint64_t busiest_node_bytes = 0;  // bytes into and out of the node with the most traffic
  std::uint64_t busiest_card_bytes = 0;  // largest traffic of a node's card in one direction
};

/// O(messages * levels).
MapCost map_cost(const Machine& machine, const Workload& workload, const Placement& placement,
                 Distance distance);

}  // namespace poise
