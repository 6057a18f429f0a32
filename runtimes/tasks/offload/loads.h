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
  std::uint32_t version = 0;  // one more with every statement of this rank; 0: never heard
  std::uint64_t wait = 0;     // the wait the rank is in; 0: none
  double stated_at_s = 0;     // by the clock of whoever passes it on
  double busy_s = 0;          // from then until its threads run dry
  float task_s = 0;           // of its average queued task; 0: unknown
  float queued = 0;           // tasks not started that it may lend
  float threads = 1;
  float stated = 0;  // what its program's policy calls its load; else `queued`
};

class Loads {
 public:
  /// `distances`: to each rank.
  Loads(std::uint32_t self, const std::vector<double>& distances);

  /// Takes a statement unless a later one is known. Returns whether it was news.
  bool update(const Load& load);
  const Load& of(std::uint32_t rank) const { return known_[rank].load; }

  /// What is worth passing on: the loads heard of last, `most` of them, except of `to` itself;
  /// ranks that have tasks before those that have none, who are many and speak for themselves.
  std::vector<Load> recent_for(std::uint32_t to, std::size_t most) const;

  /// Whom to tell of one's own load next: the ranks whose numbers are larger by 1, 2, 4, … in
  /// turns, the nearest of them first. There are two ranks or more.
  std::uint32_t next_gossip_target();

  /// Whom to ask for tasks in this wait: of those that say they have some, and at least half as
  /// much work per thread as any, the nearest, of them the one with the most work; else of a few
  /// random ranks the nearest. Nobody who may not be asked before a later time.
  std::optional<std::uint32_t> victim(std::uint64_t wait, double now_s, Random& random) const;
  void do_not_steal_from(std::uint32_t rank, std::uint64_t wait, double before_s) {
    known_[rank].no_steal_before_s = before_s;
    known_[rank].no_steal_in_wait = wait;
  }
  /// Whether it is in this wait and has said that it has tasks.
  bool has_tasks(std::uint32_t rank, std::uint64_t wait) const;
  /// The same, or it has said nothing yet.
  bool may_have_tasks(std::uint32_t rank, std::uint64_t wait) const {
    return known_[rank].load.wait != wait || has_tasks(rank, wait);
  }

 private:
  struct Known {
    Load load;
    double distance = 1;
    double no_steal_before_s = 0;  // to be asked in that wait
    std::uint64_t no_steal_in_wait = 0;
    bool may_be_stolen_from(std::uint64_t wait, double now_s) const {
      return wait != no_steal_in_wait || now_s >= no_steal_before_s;
    }
    bool is_better_than(const Known& other) const {
      return distance < other.distance ||
             (distance == other.distance && load.busy_s > other.load.busy_s);
    }
  };

  std::uint32_t self_;
  std::uint64_t newest_wait_ = 0;  // what was said in earlier ones is over
  std::vector<Known> known_;
  std::vector<std::uint32_t> gossip_targets_;
  std::size_t next_gossip_target_ = 0;
  // Ranks, few: those that have tasks first, then the latest heard.
  std::vector<std::uint32_t> recent_;
};

}  // namespace poise::tasks
