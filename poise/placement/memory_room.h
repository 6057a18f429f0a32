// SPDX-License-Identifier: BSD-3-Clause
// The memory that tasks need at each place and domain, and whether another task fits.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// The memory of a place is the sum of the program's own memory, the footprints of its tasks, the
/// shared blocks that its tasks need (each counted once), and the largest working memory of any of
/// its tasks, because one task runs at a time. This is the memory model of CCM-LB (Lifflander et
/// al., "Optimizing Distributed Load Balancing for Workloads with Time-Varying Imbalance", 2021).
/// All places have the same cap; in addition, each domain has a cap if the machine knows its
/// memory. Without caps, or without the workload's column `memory`, all tasks fit everywhere and a
/// query takes O(1); otherwise a query takes O(log tasks of the place).
class MemoryRoom {
 public:
  /// A place_cap_bytes of 0 means that there is no cap.
  MemoryRoom(const Machine& machine, const Workload& workload, const Placement& placement,
             std::uint64_t place_cap_bytes);

  bool is_limited() const { return is_limited_; }
  std::uint64_t bytes_at(PlaceId p) const { return holds_[p].bytes(); }
  bool is_over(PlaceId p) const;
  /// The places (or the domains) that exceed their caps: `count` is their number, `worst` is the
  /// one that exceeds its cap most, and `bytes` says by how many bytes it does.
  struct Excess {
    std::uint32_t count = 0, worst = 0;
    std::uint64_t bytes = 0;
  };
  Excess places_over() const;
  Excess domains_over() const;

  /// True if place `to` and its domain have memory for task t, or if t is already at `to`.
  bool fits(TaskId t, PlaceId to) const { return !is_limited_ || has_room(t, to); }
  /// A quick test, faster than fits(). If it returns false, task t fits on no place of the domain
  /// at which tasks use `bytes` or more, except its own place. If it returns true, t may fit.
  bool may_fit(TaskId t, DomainId domain, std::uint64_t bytes) const;
  /// True if the places of tasks t and u stay within their caps when the two tasks are exchanged.
  bool fits_exchange(TaskId t, TaskId u) { return !is_limited_ || has_room_for_both(t, u); }
  void move(TaskId t, PlaceId to) {
    if (is_limited_) carry(t, to);
  }

 private:
  struct Hold {
    std::uint64_t steady_bytes = 0;  // the program's own memory, footprints and shared blocks
    std::multiset<std::uint64_t> working_bytes;
    std::map<std::int32_t, std::uint32_t> tasks_of_block;
    std::uint64_t bytes() const {
      return steady_bytes + (working_bytes.empty() ? 0 : *working_bytes.rbegin());
    }
  };

  bool has_room(TaskId t, PlaceId to) const;
  bool has_room_for_both(TaskId t, TaskId u);
  void carry(TaskId t, PlaceId to);
  void put(TaskId t, PlaceId p);
  void take(TaskId t, PlaceId p);
  std::uint64_t block_bytes(std::int32_t block) const;

  const Machine& machine_;
  const Workload& workload_;
  std::uint64_t place_cap_;
  std::vector<std::uint64_t> domain_cap_;  // empty: no cap
  bool is_limited_;
  std::vector<PlaceId> places_;
  std::vector<Hold> holds_;                  // per place
  std::vector<std::uint64_t> domain_bytes_;  // memory in use, summed over the domain's places
};

/// Follows the placement `wanted` as far as memory allows, starting from `current`. First, places
/// over their cap give tasks away, the largest footprints first, to the emptiest place with room.
/// Then tasks move to their wanted place if they fit. Tasks that are not movable stay at `current`.
Placement within_memory(const Machine& machine, const Workload& workload, const Placement& current,
                        const Placement& wanted, std::uint64_t place_cap_bytes);

}  // namespace poise
