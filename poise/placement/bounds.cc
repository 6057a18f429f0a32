// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/bounds.h"

#include <algorithm>
#include <vector>

#include "poise/placement/metrics.h"
#include "poise/placement/subphases.h"
#include "poise/workload/links.h"

namespace poise {

namespace {

/// Sums of loads whose relative difference is below this value differ only by rounding.
constexpr double kRounding = 1e-9;

struct LeastFactors {
  double message, byte;
};

double least_between_nodes(const Machine& machine) {
  const Network& network = machine.network();
  double least = network.factor;
  switch (network.shape) {
    case Network::Shape::tree:
      for (const Tier& tier : network.tiers) least = std::min(least, tier.latency_factor);
      return least;
    case Network::Shape::matrix:
      least = network.latency_factor(0, 1);
      for (NodeId a = 0; a < machine.num_nodes(); ++a)
        for (NodeId b = 0; b < machine.num_nodes(); ++b)
          if (a != b) least = std::min(least, network.latency_factor(a, b));
      return least;
    default: return std::min(least, network.same_router_factor);
  }
}

/// Returns lower bounds on the factors of messages between different places. Only some pairs of
/// places are examined. Inside a domain, these are the pairs of consecutive places: any other pair
/// has the same finest common group, and so the same factors, as one of them. Between the domains
/// of a node, one pair of places is examined per pair of domains. Between nodes, the latency factor
/// is the network's smallest; the bandwidth factor is the same for all pairs.
LeastFactors least_factors(const Machine& machine) {
  LeastFactors least{0, 0};
  if (machine.num_places() < 2) return least;
  least = {machine.message_factor(0, 1), machine.byte_factor(0, 1)};
  const auto consider = [&](PlaceId from, PlaceId to) {
    least.message = std::min(least.message, machine.message_factor(from, to));
    least.byte = std::min(least.byte, machine.byte_factor(from, to));
  };
  for (PlaceId p = 1; p < machine.num_places(); ++p) consider(p - 1, p), consider(p, p - 1);
  for (NodeId node = 0; node < machine.num_nodes(); ++node)
    for (DomainId a = machine.first_domain(node); a < machine.first_domain(node + 1); ++a)
      for (DomainId b = machine.first_domain(node); b < machine.first_domain(node + 1); ++b)
        if (a != b) consider(machine.first_place(a), machine.first_place(b));
  if (machine.num_nodes() > 1)
    least.message = std::min(least.message, least_between_nodes(machine));
  return least;
}

double fastest(const Machine& machine) {
  double speed = 0;
  for (const Place& place : machine.places()) speed = std::max(speed, place.speed);
  return speed;
}

/// True if the time of a task's work depends on how its load is divided among subphases.
bool depends_on_subphase(const Workload& workload) {
  const bool overlap = workload.subphase_rule == SubphaseRule::overlap;
  return !workload.subphase_speed.empty() || (overlap && Subphases(workload).count() > 1);
}

struct Given {
  double load_s;
  std::uint64_t bytes;
};

std::uint64_t fewest_tasks(std::vector<Given>& tasks, double excess_s) {
  std::sort(tasks.begin(), tasks.end(),
            [](const Given& a, const Given& b) { return a.load_s > b.load_s; });
  std::uint64_t count = 0;
  for (auto task = tasks.begin(); task != tasks.end() && excess_s > 0; ++task, ++count)
    excess_s -= task->load_s;
  return count;
}

std::uint64_t fewest_bytes(std::vector<Given>& tasks, double excess_s) {
  std::sort(tasks.begin(), tasks.end(),
            [](const Given& a, const Given& b) { return a.bytes * b.load_s < b.bytes * a.load_s; });
  double bytes = 0;
  for (auto task = tasks.begin(); task != tasks.end() && excess_s > 0; ++task) {
    bytes += std::min(1.0, excess_s / task->load_s) * task->bytes;
    excess_s -= task->load_s;
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

double iteration_bound_s(const Machine& machine, const Workload& workload, const CostModel& costs,
                         const Placement& current) {
  double bound_s = makespan_bound_s(machine, workload, current);
  // With the formula `physical`, receiving a message may take no time, so messages add nothing to
  // the bound. If subphases overlap or have speeds of their own, the load of a task does not tell
  // how long it keeps a place busy.
  if (costs.formula == CostFormula::physical || depends_on_subphase(workload)) return bound_s;
  const LeastFactors least = least_factors(machine);
  const double speed = fastest(machine);
  const Links links = received(workload);
  std::vector<Link> senders;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    senders.assign(links.of(t).begin(), links.of(t).end());
    std::sort(senders.begin(), senders.end(),
              [](const Link& a, const Link& b) { return a.task < b.task; });
    double busy_s = workload.tasks[t].load_s / speed;
    for (auto sender = senders.begin(); sender != senders.end();) {
      const TaskId from = sender->task;
      double messages_s = 0;
      for (; sender != senders.end() && sender->task == from; ++sender)
        messages_s += sender->count * costs.seconds_per_message * least.message +
                      sender->bytes * costs.seconds_per_byte * least.byte;
      busy_s += std::min(messages_s, workload.tasks[from].load_s / speed);
    }
    bound_s = std::max(bound_s, busy_s);
  }
  return bound_s;
}

LeastMigrations least_migrations(const Machine& machine, const Workload& workload,
                                 const Placement& current, double makespan_s) {
  if (depends_on_subphase(workload)) return {};
  const std::vector<double> works_s = work_s(machine, workload, current);
  std::vector<std::vector<Given>> tasks_at(machine.num_places());
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (const PlaceId p = current.of(t); workload.tasks[t].movable &&
                                         workload.tasks[t].load_s > 0 &&
                                         works_s[p] > makespan_s * (1 + kRounding))
      tasks_at[p].push_back({workload.tasks[t].load_s, workload.tasks[t].bytes});
  LeastMigrations least;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const double excess_s = (works_s[p] - makespan_s * (1 + kRounding)) * machine.speed_of(p);
    least.tasks += fewest_tasks(tasks_at[p], excess_s);
    least.bytes += fewest_bytes(tasks_at[p], excess_s);
  }
  return least;
}

}  // namespace poise
