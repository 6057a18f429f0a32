// SPDX-License-Identifier: BSD-3-Clause
// What places send each other in one exchange: per pair of places, with costs at both ends and the
// route through the shared resources of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/message_times.h"
#include "poise/placement/placement.h"
#include "poise/simulate/flows.h"
#include "poise/workload/workload.h"

namespace poise {

/// `count` messages with `bytes` in total between two different places.
struct Transfer {
  PlaceId from = 0, to = 0;
  double count = 1, bytes = 0;
};

/// CPU seconds of both ends of a transfer.
using EndCosts = std::function<EndTimes(const Transfer&)>;

/// All transfers of an exchange. Those between the same two places are one: they leave together.
class Traffic {
 public:
  struct Pair {
    PlaceId from = 0, to = 0;
    double sender_s = 0, receiver_s = 0, latency_s = 0;
    double message_bytes = 0;  // mean size of a message
  };

  /// Costs are physical (docs/model.md), whatever formula the costs name. `piece_bytes`: messages
  /// travel in pieces of at most this size if resources are queues. O(transfers log partners +
  /// routes * tiers). A place sends to its partners in the order of their numbers, beginning with
  /// the one after itself, so that not all begin with the same place.
  Traffic(const Machine& machine, const CostModel& costs, std::vector<Transfer> transfers,
          const EndCosts& ends, std::uint64_t piece_bytes = 4096);

  std::uint32_t num_places() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  /// In order of sender.
  std::span<const Pair> pairs() const { return pairs_; }
  /// The pairs of a sender are pairs()[first_pair(p)] up to pairs()[first_pair(p + 1)].
  std::size_t first_pair(PlaceId p) const { return first_[p]; }
  const Routes& routes() const { return routes_; }
  /// One per pair, all starting at 0.
  std::span<const Flow> flows() const { return flows_; }
  /// Seconds on the busiest shared resource.
  double busiest_s() const { return busiest_s_; }

 private:
  void join_pairs(std::vector<Transfer>& transfers, std::uint32_t num_places);
  void add_routes(const Machine& machine, const CostModel& costs, std::span<const Transfer> joined,
                  std::uint64_t piece_bytes);

  std::vector<std::size_t> first_;
  std::vector<Pair> pairs_;
  Routes routes_;
  std::vector<Flow> flows_;
  double busiest_s_ = 0;
};

/// The messages of a phase under a placement.
Traffic message_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                        const Placement& placement, std::uint64_t piece_bytes = 4096);

/// The tasks that move from one placement to another.
Traffic migration_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                          const Placement& before, const Placement& after,
                          std::uint64_t piece_bytes = 4096);

}  // namespace poise
