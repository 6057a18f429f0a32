// SPDX-License-Identifier: BSD-3-Clause
// Computes network factors from ping-pong times between hosts. Pure; the program poise-pingpong
// sends the messages under an MPI launcher.
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

/// The latency of the smallest message and the least-squares line through the medians. Errors are
/// relative to the time; otherwise the largest messages alone would determine the line.
/// fit_bytes_per_s is 0 if larger messages take no longer.
HostPair host_pair(std::string from, std::string to, std::span<const MessageTime> times);

/// Pairs of hosts to measure, a < b: all pairs if there are at most max_pairs; otherwise rings of
/// increasing distance, so that every host is in at least two pairs (the first ring is always
/// complete).
std::vector<std::pair<std::uint32_t, std::uint32_t>> choose_pairs(std::uint32_t hosts,
                                                                  std::size_t max_pairs);

/// The measured node with the network factors from `pairs`. The NETWORK factor is the median of
/// one-way latencies divided by a local memory read (Pilla et al., ICPP 2012, section IV). The
/// factor of a byte is a core's share of the memory bandwidth divided by its share of the link.
/// Pairs on one host are ignored.
Machine with_network(const Machine& node, std::vector<HostPair> pairs);

/// One copy of the node per host, with the measured factor of each pair of hosts. Pairs that were
/// not measured get the median.
Machine cluster_of(const Machine& node, std::span<const std::string> hosts);

}  // namespace poise
