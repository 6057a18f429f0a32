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

/// Total traffic along a route.
struct Sum {
  DomainId from = 0, to = 0;
  double count = 0, bytes = 0;
};

/// Returns a number by which the resources that a message crosses are sorted into the order of its
/// route: out of the node, up through the tiers of the network (the last tier is the finest), down
/// again, and into the other node.
std::uint32_t position(const Crossing& crossing, DomainId from) {
  constexpr std::uint32_t kTiers = 1000;  // more than a machine has
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

/// Returns the bytes to add to the size of a message to account for the gap between two messages:
/// the bytes that a card could send in the gap. So messages share a card in proportion to the time
/// that each occupies it. Resources without gaps are shared in proportion to bytes.
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

Traffic::Traffic(const Machine& machine, const CostModel& costs, std::vector<Transfer> transfers,
                 const EndCosts& ends, std::uint64_t piece_bytes) {
  join_pairs(transfers, machine.num_places());
  pairs_.reserve(transfers.size());
  for (const Transfer& transfer : transfers) {
    const EndTimes times = ends(transfer);
    pairs_.push_back({transfer.from, transfer.to, times.sender_s, times.receiver_s,
                      poise::latency_s(machine, costs, transfer.from, transfer.to),
                      transfer.bytes / transfer.count});
  }
  add_routes(machine, costs, transfers, piece_bytes);
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

void Traffic::add_routes(const Machine& machine, const CostModel& costs,
                         std::span<const Transfer> joined, std::uint64_t piece_bytes) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  std::vector<Sum> sums;
  flows_.resize(joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const DomainId from = machine.domain_of(joined[i].from), to = machine.domain_of(joined[i].to);
    const auto [found, is_new] = known.emplace(std::uint64_t{from} << 32U | to, sums.size());
    if (is_new) sums.push_back({from, to, 0, 0});
    flows_[i].route = found->second;
    sums[found->second].count += joined[i].count;
    sums[found->second].bytes += joined[i].bytes;
  }
  const Resources resources(machine, costs);
  std::vector<double> extra(sums.size());
  std::vector<RouteStop> stops;
  std::vector<Crossing> crossings;
  for (std::size_t route = 0; route < sums.size(); ++route) {
    const Sum& sum = sums[route];
    find_route(resources, sum.from, sum.to, crossings);
    extra[route] = bytes_per_message(crossings);
    const double bytes = sum.bytes + sum.count * extra[route];
    stops.clear();
    for (const Crossing& crossing : crossings)
      if (bytes > 0)
        stops.push_back(
            {resources.id_of(crossing),
             (sum.count * crossing.s_per_message + sum.bytes * crossing.s_per_byte) / bytes});
    routes_.add(stops);
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    flows_[i].bytes = joined[i].bytes + joined[i].count * extra[flows_[i].route];
    const double pieces = std::max(joined[i].count, std::ceil(joined[i].bytes / piece_bytes));
    flows_[i].pieces = static_cast<std::uint32_t>(std::clamp(pieces, 1.0, 4e9));
  }
}

Traffic message_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                        const Placement& placement, std::uint64_t piece_bytes, double part) {
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
  return {machine, costs, std::move(transfers), ends, piece_bytes};
}

Traffic migration_traffic(const Machine& machine, const Workload& workload, const CostModel& costs,
                          const Placement& before, const Placement& after,
                          std::uint64_t piece_bytes, std::span<const double> unpacking) {
  std::vector<Transfer> transfers;
  for (const Migration& move : migrations(before, after))
    transfers.emplace_back(move.from, move.to, 1, workload.tasks[move.task].bytes);
  const auto ends = [&](const Transfer& transfer) {
    const double pack_s = transfer.count * costs.seconds_per_migrated_task +
                          transfer.bytes * costs.seconds_per_migrated_byte;
    return EndTimes{pack_s, unpacking.empty() ? pack_s : pack_s * unpacking[transfer.to]};
  };
  return {machine, costs, std::move(transfers), ends, piece_bytes};
}

}  // namespace poise
