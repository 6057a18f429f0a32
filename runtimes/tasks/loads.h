// What a rank knows of the others' loads: heard from them or through others, and passed on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/base/random.h"

namespace poise::tasks {

/// A rank's load as it told itself; travels in messages.
struct Load {
  std::uint32_t rank = 0;
  std::uint32_t version = 0;  // grows with every statement of this rank; 0: never heard
  std::uint64_t wait = 0;     // the wait the rank is in; 0: none
  double said_s = 0;          // by the clock of whoever passes it on
  double busy_s = 0;          // from then until its threads run dry
  float task_s = 0;           // of its average queued task; 0: unknown
  float queued = 0;           // tasks not started that it may lend
  float threads = 1;
  float stated = 0;  // what its program's policy calls its load; else `queued`
};

class Loads {
 public:
  Loads(std::uint32_t self, std::uint32_t num_ranks);

  /// Takes a statement unless a later one is known. Returns whether it was news.
  bool hear(const Load& load);
  const Load& of(std::uint32_t rank) const { return known_[rank].load; }

  /// What is worth passing on: the loads heard of last, `most` of them, except of `to` itself;
  /// ranks that have tasks before those that have none, who are many and speak for themselves.
  std::vector<Load> news(std::uint32_t to, std::size_t most) const;

  /// Whom to tell of one's own load next: the ranks at distances 1, 2, 4, … in turns.
  std::uint32_t next_listener();

  /// Whom to ask for tasks in this wait: of those that say they have some the one with the most
  /// work per thread, else a random rank not known to be elsewhere. Nobody who may not be asked
  /// before a later time.
  std::optional<std::uint32_t> lender(std::uint64_t wait, double now_s, Random& random) const;
  void do_not_ask(std::uint32_t rank, std::uint64_t wait, double before_s) {
    known_[rank].not_before_s = before_s;
    known_[rank].not_in_wait = wait;
  }
  /// Whether it is in this wait and has said that it has tasks.
  bool has_tasks(std::uint32_t rank, std::uint64_t wait) const;

 private:
  struct Known {
    Load load;
    double not_before_s = 0;  // to be asked in that wait
    std::uint64_t not_in_wait = 0;
    bool may_be_asked(std::uint64_t wait, double now_s) const {
      return wait != not_in_wait || now_s >= not_before_s;
    }
  };

  std::uint32_t self_, distance_ = 1;
  std::uint64_t newest_wait_ = 0;  // what was said in earlier ones is over
  std::vector<Known> known_;
  // Ranks, few: those that have tasks first, then the latest heard.
  std::vector<std::uint32_t> latest_;
};

}  // namespace poise::tasks
