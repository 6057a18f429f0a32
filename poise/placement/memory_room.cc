// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/memory_room.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "poise/placement/least_busy.h"

namespace poise {

namespace {

constexpr std::uint64_t kNoCap = std::numeric_limits<std::uint64_t>::max();
constexpr int kRounds = 4;

/// The memory in use at all places, to find the place that uses least.
class MemoryInUse {
 public:
  MemoryInUse(const Machine& machine, const MemoryRoom& room)
      : machine_(machine), room_(room), places_(std::vector<double>(machine.num_places(), 0)) {
    for (PlaceId p = 0; p < machine.num_places(); ++p) update(p);
  }

  void update(PlaceId p) { places_.set(p, static_cast<double>(room_.bytes_at(p))); }

  /// Returns the place with room for t that uses the least memory, or t's own place `at` if no
  /// place has room. O(domains), plus one search in a tournament tree for each place that may have
  /// room and uses less memory than the best so far.
  PlaceId emptiest_with_room(TaskId t, PlaceId at) const {
    PlaceId best = at;
    double least = std::numeric_limits<double>::infinity();
    for (DomainId d = 0; d < machine_.num_domains(); ++d) {
      const PlaceId last = machine_.first_place(d + 1);
      const auto is_worth_trying = [&](double bytes) {
        return bytes < least && room_.may_fit(t, d, static_cast<std::uint64_t>(bytes));
      };
      if (!is_worth_trying(0)) continue;
      for (PlaceId p = machine_.first_place(d);
           (p = places_.next_in(p, last, is_worth_trying)) < last; ++p)
        if (p != at && room_.fits(t, p)) {
          best = p;
          least = places_.busy_s(p);
        }
    }
    return best;
  }

 private:
  const Machine& machine_;
  const MemoryRoom& room_;
  LeastBusy places_;
};

MemoryRoom::Excess excess_of(std::uint32_t count, const auto& bytes_of, const auto& cap_of) {
  MemoryRoom::Excess excess;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (bytes_of(i) <= cap_of(i)) continue;
    ++excess.count;
    const std::uint64_t bytes = bytes_of(i) - cap_of(i);
    if (bytes > excess.bytes) excess = {excess.count, i, bytes};
  }
  return excess;
}

std::vector<TaskId> by_footprint(const Workload& workload) {
  std::vector<TaskId> tasks;
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable) tasks.push_back(t);
  std::stable_sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return workload.memory[a].footprint_bytes > workload.memory[b].footprint_bytes;
  });
  return tasks;
}

}  // namespace

MemoryRoom::MemoryRoom(const Machine& machine, const Workload& workload, const Placement& placement,
                       std::uint64_t place_cap_bytes)
    : machine_(machine),
      workload_(workload),
      place_cap_(place_cap_bytes == 0 ? kNoCap : place_cap_bytes) {
  const std::vector<std::uint64_t>& known = machine.parts().facts.memory_bytes;
  if (known.size() == machine.num_domains()) domain_cap_ = known;
  is_limited_ = !workload.memory.empty() && (place_cap_ != kNoCap || !domain_cap_.empty());
  if (!is_limited_) return;
  places_.assign(placement.places().begin(), placement.places().end());
  holds_.resize(machine.num_places());
  domain_bytes_.assign(machine.num_domains(), 0);
  for (PlaceId p = 0; p < machine.num_places() && !workload.place_bytes.empty(); ++p) {
    holds_[p].steady_bytes = workload.place_bytes[p];
    domain_bytes_[machine.domain_of(p)] += workload.place_bytes[p];
  }
  for (TaskId t = 0; t < workload.num_tasks(); ++t) put(t, places_[t]);
}

std::uint64_t MemoryRoom::block_bytes(std::int32_t block) const {
  return workload_.shared_block_bytes[block];
}

bool MemoryRoom::is_over(PlaceId p) const {
  if (!is_limited_) return false;
  const DomainId domain = machine_.domain_of(p);
  return bytes_at(p) > place_cap_ ||
         (!domain_cap_.empty() && domain_bytes_[domain] > domain_cap_[domain]);
}

MemoryRoom::Excess MemoryRoom::places_over() const {
  return excess_of(
      holds_.size(), [&](PlaceId p) { return bytes_at(p); }, [&](PlaceId) { return place_cap_; });
}

MemoryRoom::Excess MemoryRoom::domains_over() const {
  return excess_of(
      is_limited_ ? domain_cap_.size() : 0, [&](DomainId d) { return domain_bytes_[d]; },
      [&](DomainId d) { return domain_cap_[d]; });
}

bool MemoryRoom::may_fit(TaskId t, DomainId domain, std::uint64_t bytes) const {
  const std::uint64_t footprint = workload_.memory[t].footprint_bytes;
  if (bytes + footprint > place_cap_) return false;
  return domain_cap_.empty() || machine_.domain_of(places_[t]) == domain ||
         domain_bytes_[domain] + footprint <= domain_cap_[domain];
}

bool MemoryRoom::has_room(TaskId t, PlaceId to) const {
  const PlaceId from = places_[t];
  if (from == to) return true;
  const TaskMemory& memory = workload_.memory[t];
  const Hold& hold = holds_[to];
  const bool brings_block =
      memory.shared_block >= 0 && !hold.tasks_of_block.contains(memory.shared_block);
  const std::uint64_t largest = hold.working_bytes.empty() ? 0 : *hold.working_bytes.rbegin();
  const std::uint64_t after = hold.steady_bytes + memory.footprint_bytes +
                              (brings_block ? block_bytes(memory.shared_block) : 0) +
                              std::max(largest, memory.working_bytes);
  if (after > place_cap_) return false;
  const DomainId domain = machine_.domain_of(to);
  if (domain_cap_.empty()) return true;
  // If t moves inside its domain, its old place is certain to need less memory only by the
  // footprint of t, because other tasks there may need the same shared block and as much working
  // memory as t.
  const std::uint64_t freed =
      machine_.domain_of(from) == domain ? memory.footprint_bytes : std::uint64_t{0};
  return domain_bytes_[domain] - hold.bytes() + after - freed <= domain_cap_[domain];
}

bool MemoryRoom::has_room_for_both(TaskId t, TaskId u) {
  const PlaceId place_t = places_[t], place_u = places_[u];
  carry(t, place_u);
  const bool fits = has_room(u, place_t);
  carry(u, place_t);
  const bool is_good = fits && !is_over(place_u);
  carry(u, place_u);
  carry(t, place_t);
  return is_good;
}

void MemoryRoom::carry(TaskId t, PlaceId to) {
  take(t, places_[t]);
  put(t, to);
  places_[t] = to;
}

void MemoryRoom::put(TaskId t, PlaceId p) {
  const TaskMemory& memory = workload_.memory[t];
  Hold& hold = holds_[p];
  std::uint64_t& domain_bytes = domain_bytes_[machine_.domain_of(p)];
  domain_bytes -= hold.bytes();
  hold.steady_bytes += memory.footprint_bytes;
  hold.working_bytes.insert(memory.working_bytes);
  if (memory.shared_block >= 0 && hold.tasks_of_block[memory.shared_block]++ == 0)
    hold.steady_bytes += block_bytes(memory.shared_block);
  domain_bytes += hold.bytes();
}

void MemoryRoom::take(TaskId t, PlaceId p) {
  const TaskMemory& memory = workload_.memory[t];
  Hold& hold = holds_[p];
  std::uint64_t& domain_bytes = domain_bytes_[machine_.domain_of(p)];
  domain_bytes -= hold.bytes();
  hold.steady_bytes -= memory.footprint_bytes;
  hold.working_bytes.erase(hold.working_bytes.find(memory.working_bytes));
  if (memory.shared_block >= 0 && --hold.tasks_of_block[memory.shared_block] == 0) {
    hold.tasks_of_block.erase(memory.shared_block);
    hold.steady_bytes -= block_bytes(memory.shared_block);
  }
  domain_bytes += hold.bytes();
}

Placement within_memory(const Machine& machine, const Workload& workload, const Placement& current,
                        const Placement& wanted, std::uint64_t place_cap_bytes) {
  MemoryRoom room(machine, workload, current, place_cap_bytes);
  if (!room.is_limited()) return wanted;
  Placement placement = current;
  const auto move = [&](TaskId t, PlaceId to) {
    room.move(t, to);
    placement.move(t, to);
  };
  const std::vector<TaskId> tasks = by_footprint(workload);
  MemoryInUse in_use(machine, room);
  for (const TaskId t : tasks) {
    const PlaceId from = placement.of(t);
    if (!room.is_over(from)) continue;
    move(t, in_use.emptiest_with_room(t, from));
    in_use.update(from);
    in_use.update(placement.of(t));
  }
  bool moved = true;
  for (int round = 0; round < kRounds && moved; ++round) {
    moved = false;
    for (const TaskId t : tasks) {
      if (placement.of(t) == wanted.of(t) || !room.fits(t, wanted.of(t))) continue;
      move(t, wanted.of(t));
      moved = true;
    }
  }
  return placement;
}

}  // namespace poise
