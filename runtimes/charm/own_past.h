// SPDX-License-Identifier: BSD-3-Clause
// The loads of one PE's objects at the last decisions that all PEs made together. They show which
// new loads are spikes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtimes/charm/own_arrays.h"
#include "runtimes/charm/spikes.h"

#include "poise/distributed/communicator.h"

namespace poise::charm {

/// The last loads of the objects of one rank, 32 bytes per object. All public functions are
/// collective: all ranks call them in the same order.
class OwnPast {
 public:
  /// Replaces spikes in the loads of the objects. Follows the rule of replace_spikes() in spikes.h,
  /// applied to the objects of all ranks. An object whose earlier loads this rank does not know
  /// keeps its load. Records the loads as they were measured. Returns the number of objects of all
  /// ranks.
  std::uint64_t replace_spikes(Communicator& ranks, OwnArrays& arrays);

  /// Returns the loads of the objects that this rank will have after a decision. rank_of_task[t] is
  /// the new rank of object t in the arrays of the last call of replace_spikes(). Sets num_arriving
  /// to the number of objects that come to this rank.
  OwnPast after(Communicator& ranks, const std::vector<std::uint32_t>& rank_of_task,
                std::uint64_t& num_arriving) const;

 private:
  /// One load per decision, the newest first; negative if it is unknown.
  using Loads = std::array<double, 1 + kDecisionsForSpikes>;
  struct Record {
    std::uint64_t id;
    Loads loads_s;
  };

  void record(const OwnArrays& arrays);

  std::vector<Record> records_;  // record t belongs to task t of the last decision
};

}  // namespace poise::charm
