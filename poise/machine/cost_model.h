// SPDX-License-Identifier: BSD-3-Clause
// What messages and migrations cost on a machine. The formulas that use these numbers are in
// placement/metrics.h and placement/message_times.h; the numbers belong to the machine because they
// are measured on it. Every symbol, unit and source: docs/model.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace poise {

/// The formula that predicts the time of an iteration.
enum class CostFormula : std::uint8_t {
  nuco,      // a message costs its receiver alpha * latency factor, as in NucoLB
  physical,  // CPU time at both ends, shared resources and latency (message_times.h)
};
std::string_view name_of(CostFormula formula);
/// Throws Error if there is no formula of this name.
CostFormula formula_named(std::string_view name);

/// The cost of a message in the terms of LogGP (Alexandrov et al., SPAA 1995): inside a node, or
/// between nodes.
struct TransportCosts {
  double send_s = 0;           // o_s: CPU time of the sender per message
  double receive_s = 0;        // o_r: CPU time of the receiver per message
  double copy_s_per_byte = 0;  // c: CPU time per byte at each end; 0 if no processor copies (RDMA)
  /// L: seconds from the end of sending to the start of receiving, at a latency factor of 1.
  double latency_s = 0;
  double bus_crossings = 0;  // how often a byte crosses the memory bus at each end
};

struct CostModel {
  CostFormula formula = CostFormula::nuco;

  // Costs of the formula `nuco`. Of these, `physical` uses only seconds_per_migrated_byte.

  /// Seconds per message at a latency factor of 1: alpha of NucoLB (Pilla et al., "A Hierarchical
  /// Approach for Load Balancing on Parallel Multi-core Systems", ICPP 2012, section V-C).
  double seconds_per_message = 1e-5;
  /// Seconds per byte at a bandwidth factor of 1. At another factor, a byte costs this number times
  /// the factor.
  double seconds_per_byte = 0;
  /// Seconds per byte of a migrated task. With the formula `physical` this is the CPU time of
  /// packing a byte at the old place; unpacking it at the new place takes the same time again.
  double seconds_per_migrated_byte = 1e-9;

  // Costs that only the formula `physical` uses. The defaults are assumptions for a current node
  // with one 100 Gb/s card; `poise measure` replaces those that it can measure. A bandwidth of 0
  // means unlimited.

  TransportCosts inside{.send_s = 2e-7,
                        .receive_s = 2e-7,
                        .copy_s_per_byte = 1e-10,
                        .latency_s = 1e-7,
                        .bus_crossings = 2};
  TransportCosts network{.send_s = 3e-7,
                         .receive_s = 3e-7,
                         .copy_s_per_byte = 0,
                         .latency_s = 1e-7,
                         .bus_crossings = 1};
  double bus_bytes_per_s = 5e10;      // of a domain's memory bus; see assumed_bus_bytes_per_s
  double card_bytes_per_s = 1.25e10;  // of a network card, in each direction
  double card_s_per_message = 1e-8;   // g: time between two messages on a card
  std::uint32_t cards = 1;            // cards per node; messages spread over them
  /// Bandwidth in each direction between one group of a network tier and the rest of the machine:
  /// one entry per tier, coarsest first. Tiers without an entry have unlimited bandwidth.
  std::vector<double> uplink_bytes_per_s = {};
  /// Bandwidth of one network that all nodes share, such as Ethernet without a switch. 0 means that
  /// there is none.
  double shared_network_bytes_per_s = 0;
  double seconds_per_migrated_task = 5e-6;  // CPU time at each end per migrated task
};

}  // namespace poise
