// SPDX-License-Identifier: BSD-3-Clause
// Looks up the factors on the costs of messages between places in tables, for strategies that need
// millions of these factors.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// Gives the same results as Machine::message_factor() and byte_factor(). Message factors are
/// stored per pair of domains if the machine has at most 128 domains and all message factors inside
/// domains are 1; this takes at most 128 KB, which fits into a processor's cache. On other machines
/// with at most 2,048 nodes, message factors are stored per pair of nodes, in at most 32 MB. All
/// other factors are asked of the machine, to which the table keeps a reference.
class FactorTable {
 public:
  /// Whether factors are stored, or computed at each query. On a torus of hundreds of nodes,
  /// computing the table takes longer than a short decision. So if there are few queries, choose
  /// `computed`.
  enum class PairsOfNodes : std::uint8_t { tabulated, computed };

  explicit FactorTable(const Machine& machine, PairsOfNodes pairs = PairsOfNodes::tabulated);

  double message(PlaceId from, PlaceId to) const {
    const DomainId domain_from = domain_of_[from], domain_to = domain_of_[to];
    if (!by_domain_.empty())
      return from == to ? 0 : by_domain_[std::size_t{domain_from} * num_domains_ + domain_to];
    if (domain_from == domain_to) return inside(from, to);
    const NodeId node_from = machine_.node_of(domain_from), node_to = machine_.node_of(domain_to);
    if (message_.empty() || node_from == node_to)
      return machine_.latency_factor(domain_from, domain_to);
    return message_[std::size_t{node_from} * num_nodes_ + node_to];
  }

  double byte(PlaceId from, PlaceId to) const;

  /// True if all factors between different places of one domain are 1, for messages and for bytes.
  bool is_flat_inside() const { return is_flat_inside_ && machine_.has_equal_bytes_inside(); }

 private:
  double inside(PlaceId from, PlaceId to) const {
    if (from == to) return 0;
    return is_flat_inside_ ? 1 : machine_.message_factor(from, to);
  }

  const Machine& machine_;
  std::size_t num_nodes_, num_domains_;
  bool is_flat_inside_;  // all messages inside a domain have factor 1
  std::vector<DomainId> domain_of_;
  // Factor per pair of domains, for different places; empty: the machine has too many domains, or
  // factors differ inside a domain.
  std::vector<double> by_domain_;
  std::vector<double> message_;  // factor per pair of nodes; empty: computed when it is needed
};

}  // namespace poise
