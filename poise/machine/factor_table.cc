// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/factor_table.h"

namespace poise {

namespace {

constexpr std::size_t kMaxTabulatedDomains = 2048;

}  // namespace

FactorTable::FactorTable(const Machine& machine)
    : machine_(machine),
      num_domains_(machine.num_domains()),
      is_flat_inside_(machine.has_equal_messages_inside()) {
  for (const Place& place : machine.places()) domain_of_.push_back(place.domain);
  if (num_domains_ > kMaxTabulatedDomains) return;
  message_.resize(num_domains_ * num_domains_);
  for (DomainId from = 0; from < num_domains_; ++from)
    for (DomainId to = 0; to < num_domains_; ++to)
      message_[from * num_domains_ + to] = machine.latency_factor(from, to);
}

double FactorTable::byte(PlaceId from, PlaceId to) const { return machine_.byte_factor(from, to); }

}  // namespace poise
