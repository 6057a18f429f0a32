// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/total_time.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "poise/machine/resources.h"
#include "poise/placement/message_times.h"
#include "poise/placement/metrics.h"

namespace poise {

namespace {

/// All messages or all migrating tasks from the place `from` to the place `to`.
struct Flow {
  PlaceId from = 0, to = 0;
  double count = 0, bytes = 0;
};

void merge_equal(std::vector<Flow>& flows) {
  const auto ends = [](const Flow& flow) { return std::pair(flow.from, flow.to); };
  std::sort(flows.begin(), flows.end(), [&](const Flow& a, const Flow& b) {
    return std::tuple(ends(a), a.count, a.bytes) < std::tuple(ends(b), b.count, b.bytes);
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < flows.size(); ++i) {
    if (ends(flows[i]) == ends(flows[last])) {
      flows[last].count += flows[i].count;
      flows[last].bytes += flows[i].bytes;
    } else {
      flows[++last] = flows[i];
    }
  }
  if (!flows.empty()) flows.resize(last + 1);
}

std::vector<Flow> message_flows(Communicator& ranks, const OwnTasks& own, const OwnGraph& graph,
                                const std::vector<std::uint32_t>& targets) {
  const std::vector<std::uint32_t> ghost_rank = ask_owners(ranks, graph.ghosts(), targets);
  std::vector<Flow> flows;
  std::size_t merged = 0;
  for (std::uint32_t t = 0; t < own.num_tasks() && !own.first.empty(); ++t)
    for (std::size_t i = own.first[t]; i < own.first[t + 1]; ++i) {
      const PlaceId to = graph.rank_of_receiver(i, targets, ghost_rank);
      if (to == targets[t]) continue;
      if (flows.size() == flows.capacity() && flows.size() > 2 * merged) {
        merge_equal(flows);
        merged = flows.size();
      }
      flows.push_back({targets[t], to, 1.0 * own.count(i), 1.0 * own.bytes_of_message(i)});
    }
  merge_equal(flows);
  return flows;
}

std::vector<Flow> migration_flows(std::uint32_t rank, const OwnTasks& own,
                                  const std::vector<std::uint32_t>& targets) {
  std::map<PlaceId, Flow> by_target;
  for (std::uint32_t t = 0; t < own.num_tasks(); ++t) {
    if (targets[t] == rank) continue;
    Flow& flow = by_target[targets[t]];
    flow.count += 1;
    flow.bytes += own.bytes.empty() ? 0 : own.bytes[t];
  }
  std::vector<Flow> flows;
  for (const auto& [to, flow] : by_target) flows.push_back({rank, to, flow.count, flow.bytes});
  return flows;
}

/// One rank's share of the times of a place. To combine the shares of all ranks, the times for
/// work, for sending and for receiving are added up; of every other time, the largest is taken.
struct Share {
  double work_s = 0, sent_s = 0, received_s = 0, latency_s = 0, exposed_s = 0;

  void add(const Share& other) {
    work_s += other.work_s;
    sent_s += other.sent_s;
    received_s += other.received_s;
    latency_s = std::max(latency_s, other.latency_s);
    exposed_s = std::max(exposed_s, other.exposed_s);
  }
};

/// This rank's share of the times of each place; slowest_s() combines the shares of all ranks.
class Shares {
 public:
  Share& of(PlaceId place) { return shares_[place]; }

  void add(const Flow& flow, const EndTimes& ends) {
    shares_[flow.from].sent_s += ends.sender_s;
    shares_[flow.to].received_s += ends.receiver_s;
  }

  /// Collective. Sums up how long the flows of all ranks use each shared resource. The places at
  /// both ends of a flow take at least as long as the busiest resource that the flow crosses.
  void wait_for_resources(Communicator& ranks, const Machine& machine,
                          const std::vector<Flow>& flows) {
    const Resources resources(machine, machine.costs());
    std::vector<double> busy_s(resources.count(), 0);
    const auto for_each_crossed = [&](const Flow& flow, const auto& visit) {
      resources.for_each_crossed(machine.domain_of(flow.from), machine.domain_of(flow.to), visit);
    };
    for (const Flow& flow : flows)
      for_each_crossed(flow, [&](ResourceId r, double s_per_message, double s_per_byte) {
        busy_s[r] += flow.count * s_per_message + flow.bytes * s_per_byte;
      });
    ranks.sum(busy_s);
    for (const Flow& flow : flows) {
      double slowest_s = 0;
      for_each_crossed(
          flow, [&](ResourceId r, double, double) { slowest_s = std::max(slowest_s, busy_s[r]); });
      for (const PlaceId p : {flow.from, flow.to})
        shares_[p].exposed_s = std::max(shares_[p].exposed_s, slowest_s);
    }
  }

  /// Collective. Each rank may know only a share of the times of a place. For each place, combines
  /// the shares of all ranks, and `time` computes the time of the place from the combined share.
  /// Returns the longest time of any place.
  template <typename Time>
  double slowest_s(Communicator& ranks, const Time& time) const {
    Mail<Share> mail;
    for (const auto& [place, share] : shares_) mail[place].push_back(share);
    Share sum;
    for (const auto& [rank, part] : ranks.exchange(mail))
      for (const Share& share : part) sum.add(share);
    return ranks.max(time(sum));
  }

 private:
  std::map<PlaceId, Share> shares_;
};

std::uint64_t whole(double number) {
  return static_cast<std::uint64_t>(std::min(number, 0x1p63));  // 2^64 would overflow
}

double iteration_s(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                   const OwnGraph& graph, const std::vector<std::uint32_t>& targets) {
  const std::vector<Flow> flows = message_flows(ranks, own, graph, targets);
  const CostModel& costs = machine.costs();
  const bool is_physical = costs.formula == CostFormula::physical;
  Shares shares;
  shares.of(ranks.rank()).work_s = own.background_s;
  for (std::uint32_t t = 0; t < own.num_tasks(); ++t)
    shares.of(targets[t]).work_s += own.load_s[t] / machine.speed_of(targets[t]);
  for (const Flow& flow : flows) {
    if (is_physical) {
      shares.add(flow, end_times(machine, costs, own.loads_include, flow.count, flow.bytes,
                                 flow.from, flow.to));
      double& longest_s = shares.of(flow.to).latency_s;
      longest_s = std::max(longest_s, latency_s(machine, costs, flow.from, flow.to));
    } else {
      const Message all{0, 0, whole(flow.count), whole(flow.bytes)};
      shares.add(flow, {0, message_s(machine, costs, all, flow.from, flow.to)});
    }
  }
  if (is_physical) shares.wait_for_resources(ranks, machine, flows);
  return shares.slowest_s(ranks, [](const Share& share) {
    const double exposed_s = share.exposed_s + share.latency_s;
    return busy_s(share.work_s, share.sent_s + share.received_s, exposed_s, 0);
  });
}

double migration_s(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                   const std::vector<std::uint32_t>& targets) {
  const std::vector<Flow> flows = migration_flows(ranks.rank(), own, targets);
  const CostModel& costs = machine.costs();
  const bool is_physical = costs.formula == CostFormula::physical;
  Shares shares;
  for (const Flow& flow : flows) {
    const double end_s = (is_physical ? flow.count * costs.seconds_per_migrated_task : 0) +
                         flow.bytes * costs.seconds_per_migrated_byte;
    shares.add(flow, {end_s, end_s});
  }
  if (is_physical) shares.wait_for_resources(ranks, machine, flows);
  return shares.slowest_s(ranks, [&](const Share& share) {
    return is_physical ? share.sent_s + share.received_s + share.exposed_s
                       : std::max(share.sent_s, share.received_s);
  });
}

}  // namespace

PlannedTimes planned_times(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                           const OwnGraph& graph, const std::vector<std::uint32_t>& targets) {
  return {iteration_s(ranks, machine, own, graph, targets),
          migration_s(ranks, machine, own, targets)};
}

}  // namespace poise
