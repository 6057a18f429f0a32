// SPDX-License-Identifier: BSD-3-Clause
// The links of a machine, for messages of ranks that lend tasks. Every message takes CPU time at
// both ends, waits for its latency, and occupies the resources on its route.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/resources.h"
#include "poise/online/link_model.h"

namespace poise {

/// Computes when messages arrive. carry() must be called in the order of their sending times. A
/// resource serves messages first come, first served, in pieces as in queues.h. A message that is a
/// single piece need not wait for longer messages, because it is served between their pieces. The
/// class keeps a reference to the machine.
class LendingLinks {
 public:
  explicit LendingLinks(const Machine& machine);

  struct Passage {
    double sender_s = 0, receiver_s = 0;  // CPU time
    double arrival_s = 0;                 // when the receiver can begin to receive
  };
  /// Sends a message at time at_s and returns its CPU times and its arrival time. O(resources on
  /// its route).
  Passage carry(PlaceId from, PlaceId to, double bytes, double at_s);

  /// Returns the location of place `other` relative to place `self`.
  PeerLocality locality(PlaceId self, PlaceId other) const;

 private:
  const Machine& machine_;
  Resources resources_;
  /// Per resource: time at which it has served all messages so far.
  std::vector<double> free_s_;
  std::vector<PlaceId> first_place_;  // per domain
  /// The resources that the current message crosses.
  std::vector<ResourceRates::Crossing> crossings_;
};

}  // namespace poise
