// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/capacity.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "poise/base/error.h"
#include "poise/placement/least_busy.h"

namespace poise {

namespace {

/// Returns for each place the number of cores that all its tasks together may take.
std::vector<std::int64_t> cores_of_places(const Machine& machine, const Capacity& capacity) {
  std::vector<std::int64_t> cores(machine.num_places());
  for (PlaceId p = 0; p < machine.num_places(); ++p) cores[p] = capacity.of_place(p);
  return cores;
}

/// Fills places, each up to its capacity.
class Filling {
 public:
  Filling(const Problem& problem)
      : machine_(problem.machine),
        capacity_(problem.workload.capacity),
        free_(cores_of_places(machine_, capacity_)),
        free_here_(capacity_.of_domains.begin(), capacity_.of_domains.end()),
        used_(std::vector<double>(machine_.num_places(), 0)) {
    most_ = *std::max_element(free_.begin(), free_.end());
    for (PlaceId p = 0; p < machine_.num_places(); ++p) update(p);
  }

  bool has_room(TaskId t, PlaceId p) const { return room_at(p) >= capacity_.cores_of(t); }

  void put(TaskId t, PlaceId p) {
    free_[p] -= capacity_.cores_of(t);
    if (free_here_.empty()) return update(p);
    const DomainId domain = machine_.domain_of(p);
    free_here_[domain] -= capacity_.cores_of(t);
    for (PlaceId other = machine_.first_place(domain); other < machine_.first_place(domain + 1);
         ++other)
      update(other);
  }

  /// Looks for the smallest group around p in which some place has room for t. Returns the place
  /// with the most free cores in this group.
  std::optional<PlaceId> nearest(TaskId t, PlaceId p) const {
    for (std::size_t l = machine_.levels().size(); l-- > 0;) {
      const Level& level = machine_.levels()[l];
      const std::uint32_t group = machine_.group_of(l, p);
      const PlaceId best = used_.least_in(level.first_place[group], level.first_place[group + 1]);
      if (has_room(t, best)) return best;
    }
    if (has_room(t, roomiest())) return roomiest();
    return std::nullopt;
  }

  PlaceId roomiest() const { return used_.least(); }

 private:
  std::int64_t room_at(PlaceId p) const {
    if (free_here_.empty()) return free_[p];
    return std::min(free_[p], free_here_[machine_.domain_of(p)]);
  }
  void update(PlaceId p) { used_.set(p, std::max<std::int64_t>(0, most_ - room_at(p))); }

  const Machine& machine_;
  const Capacity& capacity_;
  std::vector<std::int64_t> free_, free_here_;
  std::int64_t most_ = 0;  // cores of the largest place
  // Per place: most_ minus the number of its free cores. So the place with the most free cores has
  // the least value.
  LeastBusy used_;
};

/// Puts the tasks that are not movable at their current places.
void put_fixed_tasks(const Problem& problem, Filling& filling, Placement& placement) {
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    if (problem.workload.tasks[t].movable) continue;
    const PlaceId p = problem.current.of(t);
    if (!filling.has_room(t, p))
      fail(
          "capacity: place {} has no room for task {}, which is not movable; give the place more "
          "cores",
          p, t);
    filling.put(t, p);
    placement.move(t, p);
  }
}

std::vector<TaskId> movable_tasks(const Workload& workload) {
  std::vector<TaskId> tasks;
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable) tasks.push_back(t);
  return tasks;
}

/// Returns the placement `wanted`, changed only as far as capacities demand, or nothing if some
/// task finds no room in this way.
std::optional<Placement> close_to(const Problem& problem, const Placement& wanted) {
  const Workload& workload = problem.workload;
  const Capacity& capacity = workload.capacity;
  Filling filling(problem);
  Placement placement = wanted;
  put_fixed_tasks(problem, filling, placement);
  std::vector<TaskId> order = movable_tasks(workload);
  const auto rank = [&](TaskId t) {  // the task with the smallest rank comes first
    const bool stays = problem.current.of(t) == wanted.of(t);
    return std::tuple(!stays, -std::int64_t{capacity.cores_of(t)}, -workload.tasks[t].load_s, t);
  };
  std::sort(order.begin(), order.end(), [&](TaskId a, TaskId b) { return rank(a) < rank(b); });
  std::vector<TaskId> without;
  for (const TaskId t : order)
    if (filling.has_room(t, wanted.of(t)))
      filling.put(t, wanted.of(t));
    else
      without.push_back(t);
  std::stable_sort(without.begin(), without.end(),
                   [&](TaskId a, TaskId b) { return capacity.cores_of(a) > capacity.cores_of(b); });
  for (const TaskId t : without) {
    const std::optional<PlaceId> p = filling.nearest(t, wanted.of(t));
    if (!p) return std::nullopt;
    filling.put(t, *p);
    placement.move(t, *p);
  }
  return placement;
}

/// Puts each movable task, those that need most cores first, on the place with the most free cores.
/// This nearly always finds room if there is any.
Placement largest_first(const Problem& problem) {
  const Capacity& capacity = problem.workload.capacity;
  Filling filling(problem);
  Placement placement = problem.current;
  put_fixed_tasks(problem, filling, placement);
  std::vector<TaskId> order = movable_tasks(problem.workload);
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return capacity.cores_of(a) > capacity.cores_of(b); });
  for (const TaskId t : order) {
    const PlaceId p = filling.roomiest();
    if (!filling.has_room(t, p))
      fail(
          "capacity: task {} needs {} cores, but no place has that many free cores; the machine "
          "needs more places or cores",
          t, capacity.cores_of(t));
    filling.put(t, p);
    placement.move(t, p);
  }
  return placement;
}

bool is_within_capacity(const Problem& problem, const Placement& placement) {
  const CoreRoom room(problem.machine, problem.workload, placement);
  for (PlaceId p = 0; p < problem.machine.num_places(); ++p)
    if (room.is_over(p)) return false;
  return true;
}

}  // namespace

CoreRoom::CoreRoom(const Machine& machine, const Workload& workload, const Placement& placement)
    : machine_(machine), capacity_(workload.capacity), is_limited_(workload.capacity.is_limited()) {
  if (!is_limited_) return;
  places_.assign(placement.places().begin(), placement.places().end());
  free_ = cores_of_places(machine, capacity_);
  free_here_.assign(capacity_.of_domains.begin(), capacity_.of_domains.end());
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    free_[places_[t]] -= capacity_.cores_of(t);
    if (!free_here_.empty()) free_here_[machine.domain_of(places_[t])] -= capacity_.cores_of(t);
  }
}

bool CoreRoom::is_over(PlaceId p) const {
  return is_limited_ &&
         (free_[p] < 0 || (!free_here_.empty() && free_here_[machine_.domain_of(p)] < 0));
}

bool CoreRoom::has_room(TaskId t, PlaceId to) const {
  const PlaceId from = places_[t];
  if (from == to) return true;
  if (free_[to] < capacity_.cores_of(t)) return false;
  const DomainId domain = machine_.domain_of(to);
  return free_here_.empty() || machine_.domain_of(from) == domain ||
         free_here_[domain] >= capacity_.cores_of(t);
}

bool CoreRoom::has_room_for_both(TaskId t, TaskId u) const {
  const PlaceId place_t = places_[t], place_u = places_[u];
  const std::int64_t more =
      std::int64_t{capacity_.cores_of(t)} - capacity_.cores_of(u);  // at place_u
  if (more == 0 || place_t == place_u) return true;
  if (free_[place_u] < more || free_[place_t] < -more) return false;
  const DomainId domain_t = machine_.domain_of(place_t), domain_u = machine_.domain_of(place_u);
  return free_here_.empty() || domain_t == domain_u ||
         (free_here_[domain_u] >= more && free_here_[domain_t] >= -more);
}

void CoreRoom::carry(TaskId t, PlaceId to) {
  const PlaceId from = places_[t];
  free_[from] += capacity_.cores_of(t);
  free_[to] -= capacity_.cores_of(t);
  if (!free_here_.empty()) {
    free_here_[machine_.domain_of(from)] += capacity_.cores_of(t);
    free_here_[machine_.domain_of(to)] -= capacity_.cores_of(t);
  }
  places_[t] = to;
}

Placement within_capacity(const Problem& problem, const Placement& wanted) {
  if (!problem.workload.capacity.is_limited()) return wanted;
  if (auto close = close_to(problem, wanted)) return std::move(*close);
  if (is_within_capacity(problem, problem.current)) return problem.current;
  return largest_first(problem);
}

}  // namespace poise
