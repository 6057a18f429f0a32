// What a rank knows about the loads of the others: told by them or passed on by third ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "poise/base/random.h"

namespace poise::tasks {

/// A rank's load as that rank stated it; part of every message.
struct Load {
  std::uint32_t rank = 0;
  std::uint32_t version = 0;  // incremented with every statement of this rank; 0: none yet
  std::uint64_t wait = 0;     // the number of the wait that the rank is in; 0: none
  double stated_at_s = 0;     // on the clock of the rank that passes it on
  double busy_s = 0;          // seconds from then until its threads run out of tasks
  float task_s = 0;           // seconds of its average queued task; 0: unknown
  float queued = 0;           // queued tasks that it may lend
  float threads = 1;          // that run tasks
  float stated = 0;           // the load by its program's policy; without one, `queued`
};

class Loads {
 public:
  /// `distances`: from this rank to each rank.
  Loads(std::uint32_t self, const std::vector<double>& distances);

  /// Takes a statement unless a later one is known. Returns whether it did.
  bool update(const Load& load);
  const Load& of(std::uint32_t rank) const { return known_[rank].load; }

  /// The loads worth passing on to `to`: the most recent ones, `max_loads` at most, without its
  /// own; ranks with tasks come first. Ranks without tasks are many, and send steal requests
  /// themselves.
  std::vector<Load> recent_for(std::uint32_t to, std::size_t max_loads) const;

  /// The rank to tell the own load next: those whose numbers are larger by 1, 2, 4, … in turns, the
  /// nearest first. There must be two ranks or more.
  std::uint32_t next_gossip_target();

  /// The rank to send a steal request in this wait. Among ranks known to have tasks, and at least
  /// kSimilarWork of the most work per thread: the nearest, of several the one with most work. If
  /// none is known: the nearest of a few random ranks. Never one that do_not_steal_from excludes.
  std::optional<std::uint32_t> victim(std::uint64_t wait, double now_s, Random& random) const;
  /// Excludes a rank as victim in this wait until `until_s`.
  void do_not_steal_from(std::uint32_t rank, std::uint64_t wait, double until_s) {
    known_[rank].excluded_until_s = until_s;
    known_[rank].excluded_in_wait = wait;
  }
  /// True if the rank is in this wait and has stated that it has tasks.
  bool has_tasks(std::uint32_t rank, std::uint64_t wait) const;
  /// True also if it has not stated anything in this wait.
  bool may_have_tasks(std::uint32_t rank, std::uint64_t wait) const {
    return known_[rank].load.wait != wait || has_tasks(rank, wait);
  }

 private:
  struct Known {
    Load load;
    double distance = 1;
    double excluded_until_s = 0;
    std::uint64_t excluded_in_wait = 0;
    bool may_be_victim(std::uint64_t wait, double now_s) const {
      return wait != excluded_in_wait || now_s >= excluded_until_s;
    }
    bool is_better_victim_than(const Known& other) const {
      return distance < other.distance ||
             (distance == other.distance && load.busy_s > other.load.busy_s);
    }
  };

  std::uint32_t self_;
  std::uint64_t newest_wait_ = 0;  // statements from earlier waits are outdated
  std::vector<Known> known_;       // by rank
  std::vector<std::uint32_t> gossip_targets_;
  std::size_t next_gossip_target_ = 0;
  std::vector<std::uint32_t> recent_;  // kMaxRecentLoads ranks: with tasks first, then the latest
};

}  // namespace poise::tasks
