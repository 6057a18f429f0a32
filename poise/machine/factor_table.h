// Factors between places at the price of a table look-up, for strategies that ask millions of
// times.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// The same answers as Machine::message_factor and byte_factor. Holds a table per pair of domains
/// where there are at most 2,048 of them (64 MB), else asks the machine. Refers to the machine.
class FactorTable {
 public:
  explicit FactorTable(const Machine& machine);

  double message(PlaceId from, PlaceId to) const {
    const DomainId domain_from = domain_of_[from], domain_to = domain_of_[to];
    if (domain_from == domain_to) return inside(from, to);
    if (message_.empty()) return machine_.latency_factor(domain_from, domain_to);
    return message_[std::size_t{domain_from} * num_domains_ + domain_to];
  }

  double byte(PlaceId from, PlaceId to) const;

  /// Whether every factor between different places of one domain is 1, of messages and of bytes.
  bool is_flat_inside() const { return is_flat_inside_ && is_flat_inside_for_bytes_; }

 private:
  double inside(PlaceId from, PlaceId to) const {
    if (from == to) return 0;
    return is_flat_inside_ ? 1 : machine_.message_factor(from, to);
  }

  const Machine& machine_;
  std::size_t num_domains_;
  bool is_flat_inside_ = true;            // every message inside a domain has factor 1
  bool is_flat_inside_for_bytes_ = true;  // likewise every byte
  std::vector<DomainId> domain_of_;
  std::vector<double> message_;
};

}  // namespace poise
