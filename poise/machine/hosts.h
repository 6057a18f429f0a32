// Messages between hosts: from ping-pong times to network factors. Pure; the messages are sent by
// the program poise-pingpong under an MPI launcher.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

struct MessageTime {
  std::uint64_t bytes = 0;
  Spread one_way_ns = {};
};

/// The latency of the smallest message and the least-squares line through the medians. Errors count
/// relative to the time, or the largest messages alone would draw the line. fit_bytes_per_s is 0
/// when larger messages take no longer.
HostPair host_pair(std::string from, std::string to, std::span<const MessageTime> times);

/// Pairs of hosts to measure, a < b: all of them when `max_pairs` allows, else rings of growing
/// distance, so that every host is in at least two (the first ring is always whole).
std::vector<std::pair<std::uint32_t, std::uint32_t>> choose_pairs(std::uint32_t hosts,
                                                                  std::size_t max_pairs);

/// The measured node with what `pairs` say of the network it is on: NETWORK factors are one-way
/// latencies over a local memory read (Pilla et al., section IV), here their median; a byte's is a
/// core's share of the link over its share of the memory. Pairs on one host say nothing.
Machine with_network(const Machine& node, std::vector<HostPair> pairs);

/// As many copies of the node as there are hosts, and the factor of each measured pair between
/// them; pairs that were not measured have the median.
Machine cluster_of(const Machine& node, std::span<const std::string> hosts);

}  // namespace poise
