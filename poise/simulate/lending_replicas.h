// SPDX-License-Identifier: BSD-3-Clause
// Copies of tasks at other ranks, in the simulation of lending (lending_simulation.h): which copies
// a rank has, and whether it waits for the answer to a claim. Only the owner of a task knows
// whether a copy of it may still run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "poise/online/lending_agent.h"

namespace poise {

/// A copy of the task with this ticket. Tickets are unique within a simulation; 0 means that a task
/// has no copies.
struct SimulatedCopy {
  std::uint64_t ticket = 0;
  std::uint32_t owner = 0;
};

/// Returns the rank that gets the copy of a task: each rank but the owner in turn.
constexpr std::uint32_t rank_of_copy(std::uint32_t owner, std::uint64_t task,
                                     std::uint32_t num_ranks) {
  return static_cast<std::uint32_t>((owner + 1 + task % (num_ranks - 1)) % num_ranks);
}

/// The copies at one rank. A rank with nothing to do asks for one copy at a time.
class SimulatedCopies {
 public:
  void keep(const std::vector<SimulatedCopy>& arrived) {
    copies_.insert(copies_.end(), arrived.begin(), arrived.end());
  }
  /// Returns the copied task for which the rank should now ask the owner, and removes it from the
  /// copies. The agent chooses the copy. Returns nothing if there are no copies, or if the last
  /// request has not been answered.
  std::optional<SimulatedCopy> claim(LendingAgent& agent) {
    if (copies_.empty() || has_claimed_) return std::nullopt;
    const std::size_t index = agent.replica_to_claim(copies_.size());
    std::swap(copies_[index], copies_.back());
    const SimulatedCopy copy = copies_.back();
    copies_.pop_back();
    has_claimed_ = true;
    return copy;
  }
  void answered() { has_claimed_ = false; }
  void drop() { copies_.clear(); }

 private:
  std::vector<SimulatedCopy> copies_;
  bool has_claimed_ = false;
};

}  // namespace poise
