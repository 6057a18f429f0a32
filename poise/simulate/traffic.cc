// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/traffic.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "poise/machine/resources.h"

namespace poise {

namespace {

using Crossing = ResourceRates::Crossing;
using Kind = ResourceRates::Kind;

/// Returns a sort key that puts the resources that a message crosses into the order of its route:
/// out of the node, up through the tiers of the network (the last tier is the finest), down again,
/// and into the other node.
std::uint32_t position(const Crossing& crossing, DomainId from) {
  constexpr std::uint32_t kTiers = 1000;  // more tiers than any machine has
  switch (crossing.kind) {
    case Kind::bus: return crossing.index == from ? 0 : 5 * kTiers;
    case Kind::link: return 1;
    case Kind::card_out: return 2;
    case Kind::up: return 2 * kTiers - crossing.other;
    case Kind::shared_network: return 2 * kTiers + 1;
    case Kind::down: return 3 * kTiers + crossing.other;
    case Kind::card_in: return 4 * kTiers + 1;
  }
  return 0;
}

/// After each message, a network card pauses for a gap. Returns the number of bytes that the card
/// could send in this gap. If this number is added to the size of each message, messages share a
/// card in proportion to the time for which they occupy it. Resources without gaps are shared in
/// proportion to bytes.
double bytes_per_message(std::span<const Crossing> crossings) {
  for (const Crossing& crossing : crossings)
    if (crossing.s_per_message > 0)
      return crossing.s_per_byte > 0 ? crossing.s_per_message / crossing.s_per_byte : 1;
  return 0;
}

}  // namespace

void find_route(const Resources& resources, DomainId from, DomainId to,
                std::vector<ResourceRates::Crossing>& crossings) {
  crossings.clear();
  resources.rates().for_each_crossed(
      from, to, [&](const Crossing& crossing) { crossings.push_back(crossing); });
  std::sort(crossings.begin(), crossings.end(), [&](const Crossing& a, const Crossing& b) {
    return position(a, from) < position(b, from);
  });
}

namespace {

/// The numbered routes of an exchange, with all traffic along each.
class RouteNumbers {
 public:
  /// Returns the index of the route from domain `from` to domain `to` with the detour `via`, and
  /// adds the transfer to the traffic of this route.
  std::uint32_t add(DomainId from, DomainId to, std::uint32_t via, const Transfer& transfer) {
    const auto next = static_cast<std::uint32_t>(sums_.size());
    const auto [found, is_new] = known_.emplace(Key{from, to, via}, next);
    if (is_new) sums_.push_back({from, to, via, 0, 0});
    sums_[found->second].count += transfer.count;
    sums_[found->second].bytes += transfer.bytes;
    return found->second;
  }

  std::vector<RouteTraffic> take() { return std::move(sums_); }

 private:
  struct Key {
    DomainId from, to;
    std::uint32_t via;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return (std::uint64_t{key.from} << 32U | key.to) ^ std::uint64_t{~key.via} << 20U;
    }
  };

  std::unordered_map<Key, std::uint32_t, Hash> known_;
  std::vector<RouteTraffic> sums_;
};

/// Lists the resources on routes, links of the network included.
class RouteFinder {
 public:
  RouteFinder(const Machine& machine, const CostModel& costs, const NetworkRoutes& network)
      : machine_(machine), resources_(machine, costs), network_(network) {}

  /// Lists the resources on a route. Returns the number of bytes whose transfer takes as long as
  /// the gap after a message.
  double find(const RouteTraffic& route, std::vector<RouteStop>& stops) {
    find_route(resources_, route.from, route.to, crossings_);
    const double extra = bytes_per_message(crossings_), bytes = route.bytes + route.count * extra;
    stops.clear();
    if (bytes <= 0) return extra;
    const NodeId from = machine_.node_of(route.from), to = machine_.node_of(route.to);
    // True once `stops` contains the links of the route, or if the route has no links.
    bool has_links = from == to || !network_.has_links();
    for (const Crossing& crossing : crossings_) {
      if (!has_links && is_behind_links(crossing, route.from)) {
        add_links(route, bytes, stops);
        has_links = true;
      }
      const bool is_uplink = crossing.kind == Kind::up || crossing.kind == Kind::down;
      if (is_uplink && network_.divides_uplinks()) continue;
      stops.push_back(
          {resources_.id_of(crossing),
           (route.count * crossing.s_per_message + route.bytes * crossing.s_per_byte) / bytes});
    }
    if (!has_links) add_links(route, bytes, stops);
    return extra;
  }

 private:
  static bool is_behind_links(const Crossing& crossing, DomainId from) {
    return crossing.kind == Kind::card_in || (crossing.kind == Kind::bus && crossing.index != from);
  }

  void add_links(const RouteTraffic& route, double bytes, std::vector<RouteStop>& stops) {
    network_.find(machine_.node_of(route.from), machine_.node_of(route.to), route.via, links_);
    for (const LinkStop& stop : links_) {
      const auto next = static_cast<std::uint32_t>(link_ids_.size());
      const ResourceId id = resources_.count() + link_ids_.emplace(stop.link, next).first->second;
      stops.push_back({id, route.bytes * stop.s_per_byte / bytes});
    }
  }

  const Machine& machine_;
  Resources resources_;
  const NetworkRoutes& network_;
  std::unordered_map<std::uint64_t, std::uint32_t> link_ids_;  // ids of the links in use
  std::vector<Crossing> crossings_;
  std::vector<LinkStop> links_;
};

}  // namespace

Traffic::Traffic(const Machine& machine, const CostModel& costs, std::vector<Transfer> transfers,
                 const EndCosts& ends, std::uint64_t piece_bytes, const Routing& routing) {
  join_pairs(transfers, machine.num_places());
  pairs_.reserve(transfers.size());
  for (const Transfer& transfer : transfers) {
    const EndTimes times = ends(transfer);
    pairs_.push_back({transfer.from, transfer.to, times.sender_s, times.receiver_s,
                      poise::latency_s(machine, costs, transfer.from, transfer.to),
                      transfer.bytes / transfer.count});
  }
  add_routes(machine, costs, transfers, piece_bytes, routing);
  busiest_s_ = poise::busiest_s(routes_, flows_);
}

/// Merges transfers so that there is one per pair of places, in the order in which they are sent.
void Traffic::join_pairs(std::vector<Transfer>& transfers, std::uint32_t num_places) {
  first_.assign(std::size_t{num_places} + 1, 0);
  for (const Transfer& transfer : transfers) ++first_[transfer.from + 1];
  for (PlaceId p = 0; p < num_places; ++p) first_[p + 1] += first_[p];
  std::vector<Transfer> sorted(transfers.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const Transfer& transfer : transfers) sorted[next[transfer.from]++] = transfer;
  std::size_t kept = 0;
  for (PlaceId p = 0; p < num_places; ++p) {
    const auto begin = sorted.begin() + first_[p], end = sorted.begin() + first_[p + 1];
    std::stable_sort(begin, end, [p, num_places](const Transfer& a, const Transfer& b) {
      const auto turn = [p, num_places](PlaceId to) {
        return to > p ? to - p : to + num_places - p;
      };
      return turn(a.to) < turn(b.to);
    });
    first_[p] = kept;
    for (auto transfer = begin; transfer != end; ++transfer) {
      if (kept > first_[p] && transfers[kept - 1].to == transfer->to) {
        transfers[kept - 1].count += transfer->count;
        transfers[kept - 1].bytes += transfer->bytes;
      } else {
        transfers[kept++] = *transfer;
      }
    }
  }
  first_[num_places] = kept;
  transfers.resize(kept);
}

/// Sets the index of the route of each entry of `flows_` and `detours_`, and returns the traffic
/// along each route.
std::vector<RouteTraffic> Traffic::choose_routes(const Machine& machine,
                                                 std::span<const Transfer> joined,
                                                 const NetworkRoutes& network) {
  const bool has_detours = network.has_links() && network.policy() != RoutingPolicy::minimal,
             is_adaptive = has_detours && network.policy() == RoutingPolicy::adaptive;
  RouteNumbers routes;
  if (is_adaptive) detours_.resize(joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const DomainId from = machine.domain_of(joined[i].from), to = machine.domain_of(joined[i].to);
    const NodeId node_from = machine.node_of(from), node_to = machine.node_of(to);
    std::uint32_t via = NetworkRoutes::kDirect;
    double extra_s = 0;
    if (has_detours && node_from != node_to) {
      via = network.detour(joined[i].from, joined[i].to);
      extra_s = network.extra_latency_s(node_from, node_to, via);
    }
    if (is_adaptive && via != NetworkRoutes::kDirect) {
      detours_[i] = {routes.add(from, to, via, joined[i]), extra_s};
      via = NetworkRoutes::kDirect;
    } else {
      pairs_[i].latency_s += extra_s;
    }
    flows_[i].route = routes.add(from, to, via, joined[i]);
  }
  return routes.take();
}

void Traffic::add_routes(const Machine& machine, const CostModel& costs,
                         std::span<const Transfer> joined, std::uint64_t piece_bytes,
                         const Routing& routing) {
  const NetworkRoutes network(machine, costs, routing);
  flows_.resize(joined.size());
  RouteFinder finder(machine, costs, network);
  std::vector<double> extra;
  std::vector<RouteStop> stops;
  for (const RouteTraffic& traffic : choose_routes(machine, joined, network)) {
    extra.push_back(finder.find(traffic, stops));
    routes_.add(stops);
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    flows_[i].bytes = joined[i].bytes + joined[i].count * extra[flows_[i].route];
    const double pieces =
        std::max(joined[i].count, std::ceil(joined[i].bytes / static_cast<double>(piece_bytes)));
    flows_[i].pieces = static_cast<std::uint32_t>(std::clamp(pieces, 1.0, 4e9));
  }
}

Traffic message_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                        const Placement& placement, std::uint64_t piece_bytes, double part,
                        const Routing& routing) {
  std::vector<Transfer> transfers;
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    if (from == to || message.count == 0 || part <= 0) continue;
    transfers.push_back({from, to, part * message.count, part * message.bytes});
  }
  const auto ends = [&](const Transfer& transfer) {
    return end_times(machine, costs, workload.loads_include, transfer.count, transfer.bytes,
                     transfer.from, transfer.to);
  };
  return {machine, costs, std::move(transfers), ends, piece_bytes, routing};
}

Traffic migration_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                          const Placement& before, const Placement& after,
                          std::uint64_t piece_bytes, std::span<const double> unpacking,
                          const Routing& routing) {
  std::vector<Transfer> transfers;
  for (const Migration& move : migrations(before, after))
    transfers.emplace_back(move.from, move.to, workload.tasks[move.task].parts,
                           workload.tasks[move.task].bytes);
  const auto ends = [&](const Transfer& transfer) {
    const double pack_s = transfer.count * costs.seconds_per_migrated_task +
                          transfer.bytes * costs.seconds_per_migrated_byte;
    return EndTimes{pack_s, unpacking.empty() ? pack_s : pack_s * unpacking[transfer.to]};
  };
  return {machine, costs, std::move(transfers), ends, piece_bytes, routing};
}

}  // namespace poise
