// SPDX-License-Identifier: BSD-3-Clause
// Computes network factors from ping-pong times between hosts. These functions send nothing: the
// program poise-pingpong sends the messages under an MPI launcher.
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

/// Returns the latency of the smallest message, and a line through the median times of all message
/// sizes, fitted by least squares. The errors of the fit are relative to the times; otherwise the
/// largest messages alone would determine the line. fit_bytes_per_s is 0 if larger messages take no
/// longer than smaller ones.
HostPair host_pair(std::string from, std::string to, std::span<const MessageTime> times);

/// Returns the pairs (a, b) of hosts to measure, with a < b: all pairs if there are at most
/// max_pairs. Otherwise the hosts form a ring, and all pairs at distance 1 on it are measured, then
/// those at distances 2, 4, ... as long as max_pairs allows. So every host is in at least two
/// pairs.
std::vector<std::pair<std::uint32_t, std::uint32_t>> choose_pairs(std::uint32_t hosts,
                                                                  std::size_t max_pairs);

/// Returns `node` with the network factors that follow from the ping-pong times in `pairs`; pairs
/// of ranks on one host are ignored. The latency factor is the median one-way latency divided by
/// the latency of a local memory read (the factor NETWORK of Pilla et al., ICPP 2012, section IV).
/// The bandwidth factor is a core's share of the memory bandwidth divided by its share of the
/// link's bandwidth.
Machine with_network(const Machine& node, std::vector<HostPair> pairs);

/// One copy of the node per host, with the measured factor of each pair of hosts. Pairs that were
/// not measured get the median. If no pair was measured, all pairs get the network factor of the
/// node's description or, if it has none, the factor assumed for machines described by text.
Machine cluster_of(const Machine& node, std::span<const std::string> hosts);

}  // namespace poise
