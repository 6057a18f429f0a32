// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows about the loads of the others, from their own messages or from third ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "poise/base/random.h"

namespace poise::tasks {

/// A rank's load as that rank stated it. Every message carries the sender's.
struct Load {
  std::uint32_t rank = 0;
  std::uint32_t version = 0;  // incremented each time the rank states its load; 0: it never has
  std::uint64_t wait = 0;     // number of the wait that the rank is in; 0: none
  double stated_at_s = 0;     // time of the statement, on the clock of the rank that passes it on
  double busy_s = 0;          // seconds from then until the rank's threads run out of tasks
  float task_s = 0;           // mean seconds per queued task; 0: unknown
  float queued = 0;           // number of queued tasks that it may lend
  float threads = 1;          // number of threads that run tasks
  // The load as its program's policy states it; without such a policy `queued`.
  float stated = 0;
};

class Loads {
 public:
  /// `distances` holds the distance from rank `self` to each rank.
  Loads(std::uint32_t self, const std::vector<double>& distances);

  /// Stores a load unless a later one of that rank is known. Returns whether it did.
  bool update(const Load& load);
  const Load& of(std::uint32_t rank) const { return known_[rank].load; }

  /// The loads worth passing on to rank `to`: the most recent ones, at most `max_loads`, without
  /// its own. Ranks with tasks come first: ranks without are many, and send steal requests
  /// themselves.
  std::vector<Load> recent_for(std::uint32_t to, std::size_t max_loads) const;

  /// The next rank to send this rank's load to: the ranks whose numbers are larger by 1, 2, 4, …
  /// take turns, the nearest first. Needs at least two ranks.
  std::uint32_t next_gossip_target();

  /// The rank to send a steal request to in this wait: among ranks known to have at least
  /// kSimilarWork of the most work per thread, the nearest, and of equally near ones that with the
  /// most work. If no rank is known to have tasks: the nearest of a few random ranks. Never a rank
  /// that do_not_steal_from excludes.
  std::optional<std::uint32_t> victim(std::uint64_t wait, double now_s, Random& random) const;
  /// Excludes `rank` as a victim in this wait until time `until_s`.
  void do_not_steal_from(std::uint32_t rank, std::uint64_t wait, double until_s) {
    known_[rank].excluded_until_s = until_s;
    known_[rank].excluded_in_wait = wait;
  }
  /// True if the rank is in this wait and has stated that it has tasks.
  bool has_tasks(std::uint32_t rank, std::uint64_t wait) const;
  /// True if the rank has stated that it has tasks, or has stated nothing in this wait.
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
  std::uint64_t newest_wait_ = 0;  // loads stated in earlier waits are outdated
  std::vector<Known> known_;       // by rank
  std::vector<std::uint32_t> gossip_targets_;
  std::size_t next_gossip_target_ = 0;
  // At most kMaxRecentLoads ranks: those with tasks first, then the most recent.
  std::vector<std::uint32_t> recent_;
};

}  // namespace poise::tasks
