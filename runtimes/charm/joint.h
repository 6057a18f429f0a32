// SPDX-License-Identifier: BSD-3-Clause
// A decision by all PEs together, each of which knows only its own objects: the interface between
// Charm++ and the library. charmc compiles this header as well, so it must be valid C++17.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtimes/charm/questions.h"
#include "runtimes/charm/statistics.h"

#include "poise/communication.h"

namespace poise::charm {

/// What a decision means for one PE. PEs are numbered as in Charm++.
struct JointDecision {
  std::vector<std::int32_t> pe_of_object;  // one entry per row of objects, in their order
  std::uint64_t num_arriving = 0;          // objects that come to this PE
  /// The new PEs of objects to which this PE's objects sent messages. This PE must send each item
  /// to the PE `told_pe`, on which the sender is now, because `told_pe` might not know where the
  /// receiver is. Sorted by `told_pe`. Empty if the strategy uses no messages.
  std::vector<News> news;
  std::uint64_t num_moves = 0, num_objects = 0;  // of all PEs
  double decide_s = 0;
  std::string warning;  // to print on this PE; empty if there is none or if it was printed before
};

/// The balancer of one PE. PE 0 reads the settings and the hardware of its host, and tells the
/// other PEs.
class JointBalancer {
 public:
  JointBalancer();
  ~JointBalancer();
  JointBalancer(const JointBalancer&) = delete;
  JointBalancer& operator=(const JointBalancer&) = delete;

  /// Must be called on PE 0 before the first decision. `setting` is the argument of +PoiseLB, or
  /// empty; it overrides POISE_STRATEGY. Throws std::runtime_error if a setting is invalid, or if
  /// the strategy needs data that are unknown when all PEs decide together, such as positions.
  void prepare(const std::string& setting);

  /// Collective. Never throws. `own.pes` has one row, this PE. `unavailable` lists the PEs that
  /// this PE knows to be unavailable; all movable objects leave a PE that any PE lists. If the
  /// decision fails on any PE, all objects stay where they are, and one PE has a warning.
  JointDecision decide(const Statistics& own, const std::vector<std::int32_t>& unavailable,
                       const poise_communication& pes) noexcept;

  /// The number of decisions so far, which is the same on all PEs. It determines the seeds of
  /// random numbers, so a checkpoint contains it.
  std::uint64_t num_decisions() const;
  void restart(std::uint64_t num_decisions);

  /// The strategy with its knobs, in the form that `poise plan` accepts. PE 0 knows it from the
  /// start, the other PEs after the first decision.
  std::string strategy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if the strategy uses messages. Throws as JointBalancer::prepare() does.
bool joint_wants_messages(const std::string& setting);

}  // namespace poise::charm
