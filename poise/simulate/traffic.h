// SPDX-License-Identifier: BSD-3-Clause
// The messages that places send to each other in one exchange. For each pair of places: the CPU
// times at both ends of its messages, and their route through the shared resources of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/resources.h"
#include "poise/placement/message_times.h"
#include "poise/placement/placement.h"
#include "poise/simulate/flows.h"
#include "poise/simulate/routing.h"
#include "poise/simulate/tuning.h"
#include "poise/workload/workload.h"

namespace poise {

/// `count` messages with `bytes` in total between two different places.
struct Transfer {
  PlaceId from = 0, to = 0;
  double count = 1, bytes = 0;
};

/// Sets `crossings` to the resources that a message crosses, in the order in which it passes them.
void find_route(const Resources& resources, DomainId from, DomainId to,
                std::vector<ResourceRates::Crossing>& crossings);

/// Computes the CPU seconds at both ends of a transfer.
using EndCosts = std::function<EndTimes(const Transfer&)>;

/// All traffic along a route between two domains.
struct RouteTraffic {
  DomainId from = 0, to = 0;
  std::uint32_t via = NetworkRoutes::kDirect;
  double count = 0, bytes = 0;
};

/// All transfers of an exchange. Transfers between the same two places are merged, because they
/// leave together.
class Traffic {
 public:
  struct Pair {
    PlaceId from = 0, to = 0;
    double sender_s = 0, receiver_s = 0, latency_s = 0;
    double message_bytes = 0;  // mean size of a message
  };

  /// Costs are those of the formula `physical` (docs/model.md), even if the cost model selects
  /// another one. If resources are queues, messages travel in pieces of at most `piece_bytes`. A
  /// place p sends to its partners in the order p + 1, p + 2, ... (place 0 follows the last place),
  /// so that not all places begin with the same partner. All messages from one place to another
  /// take the same route. O(transfers log partners + routes * (tiers + hops)).
  Traffic(const Machine& machine, const CostModel& costs, std::vector<Transfer> transfers,
          const EndCosts& ends, std::uint64_t piece_bytes = simulate_tuning::kPieceBytes,
          const Routing& routing = {});

  std::uint32_t num_places() const { return first_.size() - 1; }
  /// All pairs of places that exchange data, sorted by sender.
  std::span<const Pair> pairs() const { return pairs_; }
  /// The pairs whose sender is p are pairs()[first_pair(p)] up to, but not including,
  /// pairs()[first_pair(p + 1)].
  std::size_t first_pair(PlaceId p) const { return first_[p]; }
  const Routes& routes() const { return routes_; }
  /// All flows, one per pair. Each starts at 0 s.
  std::span<const Flow> flows() const { return flows_; }
  /// The detour of each flow if routing is adaptive; otherwise empty.
  std::span<const Detour> detours() const { return detours_; }
  /// Seconds for which the busiest shared resource is occupied.
  double busiest_s() const { return busiest_s_; }

 private:
  void join_pairs(std::vector<Transfer>& transfers, std::uint32_t num_places);
  std::vector<RouteTraffic> choose_routes(const Machine& machine, std::span<const Transfer> joined,
                                          const NetworkRoutes& network);
  void add_routes(const Machine& machine, const CostModel& costs, std::span<const Transfer> joined,
                  std::uint64_t piece_bytes, const Routing& routing);

  std::vector<std::size_t> first_;
  std::vector<Pair> pairs_;
  Routes routes_;
  std::vector<Flow> flows_;
  std::vector<Detour> detours_;
  double busiest_s_ = 0;
};

/// Returns the traffic of the messages of a phase under a placement. With `part` below 1, only this
/// fraction of the messages between any two tasks is counted.
Traffic message_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                        const Placement& placement,
                        std::uint64_t piece_bytes = simulate_tuning::kPieceBytes, double part = 1,
                        const Routing& routing = {});

/// Returns the traffic of the tasks that move from one placement to another. `unpacking` has for
/// each place the factor by which unpacking takes longer there; if it is empty, all factors are 1.
Traffic migration_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                          const Placement& before, const Placement& after,
                          std::uint64_t piece_bytes = simulate_tuning::kPieceBytes,
                          std::span<const double> unpacking = {}, const Routing& routing = {});

}  // namespace poise
