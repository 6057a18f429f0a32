// SPDX-License-Identifier: BSD-3-Clause
// Finds the slowest of the shared resources that a message crosses, for many messages.
#pragma once

#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/resources.h"

namespace poise {

/// The slowest resource between any two domains, for given times of the resources.
///
/// Most resources between two nodes belong to one end of the message: the bus and the card of the
/// sender or of the receiver. The slowest of each end is found once per domain, not once per pair
/// of domains or per message. Construction takes O(domains), a query O(tiers).
class SlowestResources {
 public:
  struct Slow {
    double seconds = 0;       // 0: messages take no time on any resource that they cross
    ResourceId resource = 0;  // the first such resource in the order of for_each_crossed()
  };

  /// seconds[r] is the time of resource r. The object keeps references to all arguments.
  SlowestResources(const Machine& machine, const Resources& resources,
                   std::span<const double> seconds)
      : machine_(machine),
        resources_(resources),
        seconds_(seconds),
        left_(machine.num_domains()),
        entered_(machine.num_domains()) {
    for (DomainId d = 0; d < machine.num_domains(); ++d) {
      resources.for_each_left(d, [&](ResourceId r) { consider(r, left_[d]); });
      resources.for_each_entered(d, [&](ResourceId r) { consider(r, entered_[d]); });
    }
  }

  Slow of(DomainId from, DomainId to) const {
    Slow slow;
    if (machine_.node_of(from) == machine_.node_of(to)) {
      resources_.for_each_crossed(from, to,
                                  [&](ResourceId r, double, double) { consider(r, slow); });
      return slow;
    }
    slow = comes_first(left_[from], entered_[to]) ? left_[from] : entered_[to];
    resources_.for_each_between(from, to, [&](ResourceId r) { consider(r, slow); });
    return slow;
  }

 private:
  void consider(ResourceId r, Slow& slow) const {
    if (seconds_[r] > slow.seconds) slow = {seconds_[r], r};
  }

  /// True if `left` is slower than `entered` or, if both are equal, comes before it in the order of
  /// for_each_crossed(): both buses, the card out, the card in, the shared network.
  bool comes_first(const Slow& left, const Slow& entered) const {
    if (left.seconds != entered.seconds) return left.seconds > entered.seconds;
    const bool is_bus = left.resource < machine_.num_domains();
    return is_bus || left.resource < entered.resource;
  }

  const Machine& machine_;
  const Resources& resources_;
  std::span<const double> seconds_;
  std::vector<Slow> left_, entered_;  // per domain
};

}  // namespace poise
