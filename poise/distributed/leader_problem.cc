// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/leader_problem.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "poise/base/random.h"
#include "poise/distributed/group_machine.h"
#include "poise/distributed/tuning.h"
#include "poise/placement/problem.h"

namespace poise {

namespace {

class LeaderProblem {
 public:
  LeaderProblem(const DecisionContext& context, std::size_t level, std::uint32_t leader,
                std::span<const Guest> guests, std::vector<GuestEdge> edges)
      : context_(context),
        level_(level),
        leader_(leader),
        guests_(guests),
        edges_(std::move(edges)),
        children_(context.groups.children(level, leader)) {
    for (const Guest& guest : guests) names_.push_back(guest.home);
  }

  std::vector<std::uint32_t> solve() {
    find_ports();
    add_tasks();
    add_messages();
    edges_ = {};  // frees this memory before the strategy runs
    const Machine machine = machine_of_groups(context_.machine, ranges_);
    place_arrivals(machine);
    Problem problem{machine, workload_, current_, machine.costs(), context_.seed};
    problem.share_of_effort = share_of_effort();
    const Placement placement = context_.strategy.rebalance(problem);
    std::vector<std::uint32_t> targets;
    for (TaskId t = 0; t < guests_.size(); ++t) {
      const PlaceRange& range = ranges_[placement.of(t)];
      targets.push_back(range.is_port ? ranges_[current_.of(t)].first : range.first);
    }
    return targets;
  }

 private:
  struct PortGroup {
    std::uint32_t leader = 0;
    TaskId first_task = 0, num_tasks = 0;
  };

  /// Chooses the ports, then gives each place of this leader's problem an ID. A port represents a
  /// place in another leader's group with which a guest (see leader_problem.h) communicates.
  void find_ports() {
    for (const GuestEdge& edge : edges_)
      if (edge.other_leader != leader_) ports_.push_back({.leader = edge.other_leader});
    std::sort(ports_.begin(), ports_.end(),
              [](const PortGroup& a, const PortGroup& b) { return a.leader < b.leader; });
    ports_.erase(
        std::unique(ports_.begin(), ports_.end(),
                    [](const PortGroup& a, const PortGroup& b) { return a.leader == b.leader; }),
        ports_.end());
    const std::size_t num_children = children_.size() - 1, num_groups = ports_.size();
    for (std::size_t c = 0; c < num_children; ++c)
      ranges_.push_back({children_[c], children_[c + 1], false});
    for (std::size_t g = 0; g < num_groups; ++g) {
      // A port represents the ranks of another leader's group, or some of them, as senders and
      // receivers of messages. A leader with n children has at most n + 1 ports. If there are more
      // groups than ports, several groups share a port.
      const std::size_t begin = g * num_children / num_groups;
      const std::size_t end = (g + 1) * num_children / num_groups;
      const auto theirs = context_.groups.children(level_, ports_[g].leader);
      ports_[g].first_task = num_ports_ - (begin == end ? 1 : 0);
      ports_[g].num_tasks = 1;
      if (begin == end && num_ports_ > 0) continue;
      ports_[g].first_task = num_ports_;
      ports_[g].num_tasks = std::clamp<std::size_t>(end - begin, 1, theirs.size() - 1);
      for (TaskId i = 0; i < ports_[g].num_tasks; ++i, ++num_ports_)
        ranges_.push_back({theirs[i], theirs[i + 1], true});
    }
    sort_places(num_children);
  }

  /// Each place of the coarser machine represents a range of places of the original machine. Sorts
  /// the places of the coarser machine by the first places of their ranges.
  void sort_places(std::size_t num_children) {
    std::vector<std::size_t> order(ranges_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return ranges_[a].first < ranges_[b].first; });
    std::vector<PlaceRange> sorted;
    std::vector<PlaceId> place_of(ranges_.size());
    for (const std::size_t i : order) {
      place_of[i] = sorted.size();
      sorted.push_back(ranges_[i]);
    }
    ranges_ = std::move(sorted);
    place_of_child_.assign(place_of.begin(), place_of.begin() + num_children);
    place_of_port_.assign(place_of.begin() + num_children, place_of.end());
  }

  /// Returns the fraction of the time for optimisation that this leader gets. All leaders of an
  /// attempt together get the time that one rank would have if it decided alone. This time is
  /// divided equally among the cycles of the attempt, then among the levels of a cycle, then among
  /// the leaders of a level.
  double share_of_effort() const {
    return 1.0 / context_.num_cycles / context_.groups.top() / context_.groups.num_groups(level_);
  }

  bool has_arrived(TaskId t) const { return guests_[t].home.rank != leader_; }

  /// Adds one task per guest (a vertex that this leader assigns), then one pinned task per port (a
  /// place of another group with which guests exchange messages).
  void add_tasks() {
    std::vector<PlaceId> places;
    for (TaskId t = 0; t < guests_.size(); ++t) {
      const PieceVertex& vertex = guests_[t].vertex;
      workload_.tasks.push_back({vertex.load_s, has_arrived(t) ? 0 : vertex.bytes,
                                 vertex.is_pinned == 0, has_arrived(t) ? 0 : vertex.num_tasks});
      places.push_back(has_arrived(t) ? place_of_child_[0] : place_of_child_[vertex.child]);
    }
    for (const PlaceId place : place_of_port_) {
      workload_.tasks.push_back({0, 0, false});
      places.push_back(place);
    }
    current_ = Placement(std::move(places));
  }

  TaskId port_of(const GuestEdge& edge) const {
    const auto port = std::lower_bound(
        ports_.begin(), ports_.end(), edge.other_leader,
        [](const PortGroup& group, std::uint32_t leader) { return group.leader < leader; });
    return static_cast<TaskId>(guests_.size()) + port->first_task +
           mix(edge.other.index) % port->num_tasks;
  }

  void add_messages() {
    workload_.loads_include = context_.loads_include;
    workload_.messages.reserve(edges_.size());
    for (const GuestEdge& edge : edges_) {
      const TaskId guest = index_of(names_, edge.guest);
      const TaskId other =
          edge.other_leader == leader_ ? index_of(names_, edge.other) : port_of(edge);
      if (edge.is_sent != 0)
        workload_.messages.push_back({guest, other, edge.count, edge.bytes});
      else
        workload_.messages.push_back({other, guest, edge.count, edge.bytes});
    }
  }

  /// Gives each vertex that arrives from another leader a child group to start from, heaviest
  /// vertices first. The vertex starts at the child with which it exchanges most messages, among
  /// the children with room for the vertex. If the vertex exchanges no messages with these
  /// children, it starts at the least busy of all children.
  void place_arrivals(const Machine& machine) {
    std::vector<TaskId> arrivals;
    std::vector<double> load_s(machine.num_places(), 0);
    double all_s = 0, speed = 0;
    for (TaskId t = 0; t < guests_.size(); ++t) {
      all_s += guests_[t].vertex.load_s;
      if (has_arrived(t))
        arrivals.push_back(t);
      else
        load_s[current_.of(t)] += guests_[t].vertex.load_s;
    }
    if (arrivals.empty()) return;
    for (const PlaceId place : place_of_child_) speed += machine.speed_of(place);
    std::stable_sort(arrivals.begin(), arrivals.end(), [this](TaskId a, TaskId b) {
      return guests_[a].vertex.load_s > guests_[b].vertex.load_s;
    });
    const UnitCosts unit = unit_costs(machine, machine.costs());
    std::vector<std::vector<std::pair<TaskId, double>>> partners(guests_.size());
    for (const Message& m : workload_.messages) {
      if (m.from >= guests_.size() || m.to >= guests_.size()) continue;
      const double cost_s = m.count * unit.message_s + m.bytes * unit.byte_s;
      partners[m.from].emplace_back(m.to, cost_s);
      partners[m.to].emplace_back(m.from, cost_s);
    }
    std::vector<bool> is_placed(guests_.size(), true);
    for (const TaskId t : arrivals) is_placed[t] = false;
    std::vector<double> affinity(machine.num_places(), 0);
    for (const TaskId t : arrivals) {
      for (const auto& [other, cost_s] : partners[t])
        if (is_placed[other]) affinity[current_.of(other)] += cost_s;
      const double own_s = guests_[t].vertex.load_s;
      PlaceId idlest = place_of_child_[0];
      std::optional<PlaceId> nearest;  // the place with the highest affinity, among those with room
      for (const PlaceId place : place_of_child_) {
        const double now = (load_s[place] + own_s) / machine.speed_of(place);
        if (now < (load_s[idlest] + own_s) / machine.speed_of(idlest)) idlest = place;
        if (now <= distributed_tuning::kRoom * all_s / speed &&
            affinity[place] > (nearest ? affinity[*nearest] : 0))
          nearest = place;
      }
      const PlaceId to = nearest.value_or(idlest);
      for (const auto& [other, cost_s] : partners[t]) affinity[current_.of(other)] = 0;
      current_.move(t, to);
      load_s[to] += own_s;
      is_placed[t] = true;
    }
  }

  const DecisionContext& context_;
  std::size_t level_;
  std::uint32_t leader_;
  std::span<const Guest> guests_;
  std::vector<GuestEdge> edges_;
  std::vector<std::uint32_t> children_;
  std::vector<VertexName> names_;
  std::vector<PortGroup> ports_;
  TaskId num_ports_ = 0;
  std::vector<PlaceRange> ranges_;
  std::vector<PlaceId> place_of_child_, place_of_port_;
  Workload workload_;
  Placement current_;
};

}  // namespace

std::vector<std::uint32_t> decide(const DecisionContext& context, std::size_t level,
                                  std::uint32_t leader, std::span<const Guest> guests,
                                  std::vector<GuestEdge> edges) {
  if (guests.empty()) return {};
  return LeaderProblem(context, level, leader, guests, std::move(edges)).solve();
}

}  // namespace poise
