// Termination detection: all ranks find out by counting that no task is unfinished on any of them.
//
// Mattern, "Algorithms for distributed termination detection", 1987, four counters: ranks report
// sums over a tree in rounds. If the tasks finished by one round are as many as those created by
// the next, no task was unfinished between the two. A pure state machine: it takes and returns
// messages, and neither sends nor waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace poise::tasks {

struct TerminationMessage {
  enum class Kind : std::uint8_t { entered, report, again, done };
  std::uint32_t to = 0;
  Kind kind = Kind::report;
  std::uint64_t wait = 0;                   // the number of the wait
  std::uint32_t round = 0;                  // of that wait
  std::uint64_t created = 0, finished = 0;  // in a report: sums over the sender's subtree
};

class TerminationDetector {
 public:
  TerminationDetector(std::uint32_t rank, std::uint32_t num_ranks);

  /// Begins a new wait on this rank.
  void enter(std::vector<TerminationMessage>& out);

  /// Notes that this rank has no unfinished task. `created`, `finished`: of its tasks since the
  /// start; they only grow. May be called any number of times.
  void idle(std::uint64_t created, std::uint64_t finished, std::vector<TerminationMessage>& out);

  void handle(std::uint32_t from, const TerminationMessage& message,
              std::vector<TerminationMessage>& out);

  bool done() const { return done_; }
  std::uint64_t wait() const { return wait_; }

  /// The parent and children in the tree that have not entered this wait, as far as this rank
  /// knows.
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
  std::vector<Report> reports_;         // the latest, by child
  std::vector<std::uint64_t> entered_;  // the latest wait, by child, then of the parent
  std::uint64_t wait_ = 0;
  std::uint32_t round_ = 0;
  bool done_ = true, reported_ = false;
  std::optional<std::uint64_t> finished_before_;  // at the root: the sum of the previous round
};

}  // namespace poise::tasks
