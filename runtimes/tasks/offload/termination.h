// Waves over a tree of ranks that find out, by counting, that nothing is left to do anywhere.
//
// Mattern, "Algorithms for distributed termination detection", 1987: if as many tasks were finished
// by one wave as were created by the next, then between the two no task was unfinished. A pure
// state machine: messages go in and come out; it neither sends nor waits.
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
  std::uint64_t wait = 0;                   // the number of the wait it belongs to
  std::uint32_t round = 0;                  // of that wait
  std::uint64_t created = 0, finished = 0;  // of a report: the sum over the sender's subtree
};

class TerminationDetector {
 public:
  TerminationDetector(std::uint32_t rank, std::uint32_t num_ranks);

  /// A new wait begins on this rank.
  void enter(std::vector<TerminationMessage>& out);

  /// This rank is in the wait and has nothing to do. Both counts of its tasks since the start only
  /// grow. May be called as often as one likes.
  void idle(std::uint64_t created, std::uint64_t finished, std::vector<TerminationMessage>& out);

  void handle(std::uint32_t from, const TerminationMessage& message,
              std::vector<TerminationMessage>& out);

  bool done() const { return done_; }
  std::uint64_t wait() const { return wait_; }

  /// The neighbours in the tree that have not entered this wait, as far as this rank knows.
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
  std::vector<Report> reports_;         // the latest of each child
  std::vector<std::uint64_t> entered_;  // the latest wait of each child, then of the parent
  std::uint64_t wait_ = 0;
  std::uint32_t round_ = 0;
  bool done_ = true, reported_ = false;
  std::optional<std::uint64_t> finished_before_;  // at the root: the sum of the wave before
};

}  // namespace poise::tasks
