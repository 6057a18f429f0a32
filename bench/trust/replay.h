// SPDX-License-Identifier: BSD-3-Clause
// One iteration of a program with known communication, read from the JSON that trust_bench.py
// writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poise::trust {

/// A machine with `racks` racks of `nodes_per_rack` nodes of `places_per_node` places.
struct Layout {
  int racks = 1, nodes_per_rack = 1, places_per_node = 1;

  int num_nodes() const { return racks * nodes_per_rack; }
  int num_places() const { return num_nodes() * places_per_node; }
  int node_of(int place) const { return place / places_per_node; }
  int rack_of(int place) const { return node_of(place) / nodes_per_rack; }
};

/// Costs in seconds, and bandwidths in bytes of messages (not of frames) per second. 0 bytes/s
/// means that there is no limit.
struct Costs {
  double card_out_bytes_per_s = 0, card_in_bytes_per_s = 0;  // of a node
  double uplink_bytes_per_s = 0;  // bandwidth of a rack's uplink, in each direction
  /// The bandwidth of a node's bus, which carries the messages inside the node.
  double bus_bytes_per_s = 0;
  double near_s = 0, far_s = 0;   // latencies of a message inside a rack and between racks
  double message_s = 0;           // CPU time per message, at each end
  std::uint64_t eager_bytes = 0;  // larger messages start once both ends have done their work
};

struct Message {
  int from = 0, to = 0;                // tasks
  std::uint64_t count = 1, bytes = 0;  // number of messages, and their bytes in total
};

struct Replay {
  std::string name;
  Layout layout;
  Costs costs;
  std::vector<double> load_s;  // of each task
  std::vector<Message> messages;
  std::vector<int> map;  // the place of each task
  bool overlap = false;  // true: messages are sent before the work, not after

  /// Returns the seconds of work of each place.
  std::vector<double> work_s() const;
  /// Returns the messages between tasks on different places, as messages between these places, in
  /// the same order.
  std::vector<Message> between_places() const;
};

/// Reads programs from a file with one JSON object per line. Throws an Error that names the line of
/// a mistake.
std::vector<Replay> read_replays(const std::string& path);

}  // namespace poise::trust
