// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/factor_table.h"

namespace poise {

namespace {

constexpr std::size_t kMaxTabulatedNodes = 2048, kMaxTabulatedDomains = 128;

}  // namespace

FactorTable::FactorTable(const Machine& machine, PairsOfNodes pairs)
    : machine_(machine),
      num_nodes_(machine.num_nodes()),
      num_domains_(machine.num_domains()),
      is_flat_inside_(machine.has_equal_messages_inside()) {
  for (const Place& place : machine.places()) domain_of_.push_back(place.domain);
  if (pairs == PairsOfNodes::computed || num_nodes_ > kMaxTabulatedNodes) return;
  if (is_flat_inside_ && num_domains_ <= kMaxTabulatedDomains) {
    for (DomainId from = 0; from < num_domains_; ++from)
      for (DomainId to = 0; to < num_domains_; ++to)
        by_domain_.push_back(from == to ? 1 : machine.latency_factor(from, to));
    return;
  }
  message_.resize(num_nodes_ * num_nodes_);
  for (NodeId from = 0; from < num_nodes_; ++from)
    for (NodeId to = 0; to < num_nodes_; ++to)
      message_[from * num_nodes_ + to] = machine.network().latency_factor(from, to);
}

double FactorTable::byte(PlaceId from, PlaceId to) const { return machine_.byte_factor(from, to); }

}  // namespace poise
