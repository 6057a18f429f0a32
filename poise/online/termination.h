// SPDX-License-Identifier: BSD-3-Clause
// Termination detection: all ranks find out, by counting tasks, that no rank has an unfinished
// task.
//
// Uses the four-counter method of Mattern, "Algorithms for distributed termination detection",
// 1987. Ranks report sums over a tree in rounds. The sums are the numbers of tasks created and
// finished since the start. If the number of finished tasks that one round reports equals the
// number of created tasks that the next round reports, no task was unfinished between the two
// rounds. The detector is a pure state machine: it takes and returns messages, and neither sends
// nor waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace poise {

struct TerminationMessage {
  enum class Kind : std::uint8_t { entered, report, again, done };
  std::uint32_t to = 0;
  Kind kind = Kind::report;
  std::uint64_t wait = 0;   // number of the wait to which the message belongs
  std::uint32_t round = 0;  // number of the round within the wait
  /// In reports: numbers of tasks, summed over the ranks of the sender's subtree.
  std::uint64_t created = 0, finished = 0;
};

/// The position of one rank in the tree of all ranks.
struct TerminationTree {
  std::optional<std::uint32_t> parent;
  std::vector<std::uint32_t> children;
};

/// Returns the tree in which the ranks of each node form a tree of fan-out 16 below the node's
/// lowest rank, and these lowest ranks form another tree. `node` lists the ranks of this rank's
/// node, and `leaders` the lowest rank of every node, both in ascending order.
TerminationTree termination_tree(std::uint32_t rank, std::span<const std::uint32_t> node,
                                 std::span<const std::uint32_t> leaders);
/// Returns the tree for jobs in which each node has `ranks_per_node` consecutive ranks.
TerminationTree termination_tree(std::uint32_t rank, std::uint32_t num_ranks,
                                 std::uint32_t ranks_per_node);

class TerminationDetector {
 public:
  explicit TerminationDetector(TerminationTree tree);

  /// Begins a new wait of this rank for the end of all tasks.
  void enter(std::vector<TerminationMessage>& out);

  /// Records that this rank has no unfinished task. `created` and `finished` count its tasks since
  /// the start and never decrease. May be called any number of times.
  void idle(std::uint64_t created, std::uint64_t finished, std::vector<TerminationMessage>& out);

  void handle(std::uint32_t from, const TerminationMessage& message,
              std::vector<TerminationMessage>& out);

  bool done() const { return done_; }
  std::uint64_t wait() const { return wait_; }

  /// Returns which of this rank's parent and children have not entered this wait, as far as this
  /// rank knows.
  std::vector<std::uint32_t> missing() const;

 private:
  struct Report {
    std::uint64_t wait = 0;
    std::uint32_t round = 0;
    std::uint64_t created = 0, finished = 0;
  };
  void conclude(std::uint64_t created, std::uint64_t finished,
                std::vector<TerminationMessage>& out);
  void tell_children(TerminationMessage::Kind kind, std::vector<TerminationMessage>& out) const;

  std::optional<std::uint32_t> parent_;
  std::vector<std::uint32_t> children_;
  std::vector<Report> reports_;  // the latest report of each child
  // For each child and, in the last entry, for the parent: the number of the latest wait that this
  // neighbour in the tree has entered, as far as this rank knows.
  std::vector<std::uint64_t> entered_;
  std::uint64_t wait_ = 0;
  std::uint32_t round_ = 0;
  bool done_ = true, reported_ = false;
  /// Used at the root: the number of finished tasks in the previous round.
  std::optional<std::uint64_t> finished_before_;
};

}  // namespace poise
