// SPDX-License-Identifier: BSD-3-Clause
// What one rank knows about others: their loads, learnt from their own messages or from third
// ranks, and the tasks in flight to and from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "poise/base/random.h"
#include "poise/online/lending_tuning.h"
#include "poise/online/link_model.h"

namespace poise {

/// A rank's load as that rank last reported it. Every message carries the load of its sender.
struct Load {
  std::uint32_t rank = 0;
  std::uint32_t version = 0;  // incremented each time the rank reports its load; 0: never reported
  std::uint64_t wait = 0;     // number of the wait (call of `wait`) that the rank is in; 0: none
  double reported_at_s = 0;   // time of the report, on the clock of the rank that passes it on
  double busy_s = 0;  // seconds from reported_at_s until the rank's threads run out of tasks
  // Mean seconds per queued task. If no task is queued, the seconds of the task that ran last. 0:
  // unknown.
  float task_s = 0;
  float queued = 0;   // number of queued tasks that the rank may lend
  float threads = 1;  // number of threads that run tasks
  // The load of the rank as the program's own policy defines it. Without such a policy, the same as
  // `queued`.
  float reported = 0;
};

/// What is known about one other rank. A rank may know 256 others, so each entry is limited to one
/// cache line.
struct Peer {
  double reported_at_s = 0;
  double excluded_until_s = 0;  // no steal request is sent to the rank before this time
  std::uint32_t rank = 0, version = 0;
  std::uint32_t wait = 0;  // the low 32 bits of Load::wait
  /// Number of tasks lent to the rank that the rank has not yet reported as received.
  std::uint32_t in_flight = 0;
  /// Number of tasks that have arrived from the rank and whose arrival has not been reported to it.
  std::uint32_t unacknowledged = 0;
  float busy_s = 0, task_s = 0, queued = 0, reported = 0;
  float in_flight_s = 0;          // seconds that the tasks in flight would take on this rank
  float slowness = 1;             // the other rank's time for a task divided by this rank's time
  std::uint16_t threads = 1;      // at least 1
  std::uint8_t declines : 4 = 0;  // in a row
  // Number of results from which `slowness` was learnt. It stops growing when the average covers
  // its maximum number of results.
  std::uint16_t num_results : 6 = 0;
  bool is_used : 1 = false;  // the entry was used since the table last checked whether to forget it
  bool has_lent : 1 = false;  // the rank has lent tasks to this rank

  bool is_in(std::uint64_t of_wait) const { return wait == static_cast<std::uint32_t>(of_wait); }
  bool has_tasks(std::uint64_t in_wait) const { return queued >= 1 && is_in(in_wait); }
  /// True if the other rank has not reported the receipt of more tasks, lent by this rank, than the
  /// other rank has threads. Then the other rank is probably inside a long task.
  bool holds_tasks(std::uint64_t in_wait) const { return in_flight > threads && is_in(in_wait); }
  /// True if the entry must be kept: tasks of the other rank have arrived here, and that rank
  /// counts them as in flight until this rank reports their arrival.
  bool is_pinned() const { return unacknowledged > 0; }
};
static_assert(sizeof(Peer) <= 64);

/// Holds at most `capacity` ranks, or more if more ranks have sent tasks whose arrival is not yet
/// reported. To add a rank, a full table forgets a rank that has not been used for a long time.
/// Ranks with tasks in flight, and ranks that still have to answer a steal request, are forgotten
/// only if there are no others. The entries are sorted by rank, so the table needs no index, and
/// ranks never heard of need no memory. References are valid until the next call of at() or
/// update().
class PeerTable {
 public:
  using LocalityOf = std::function<PeerLocality(std::uint32_t rank)>;
  PeerTable(std::uint32_t self, std::uint32_t num_ranks, LocalityOf locality_of,
            std::size_t capacity = lending_tuning::kMaxPeers);

  std::uint32_t self() const { return self_; }
  std::uint32_t num_ranks() const { return num_ranks_; }
  PeerLocality locality_of(std::uint32_t rank) const { return locality_of_(rank); }

  std::span<const Peer> all() const { return peers_; }
  /// Returns null if the table does not contain the rank.
  const Peer* find(std::uint32_t rank) const;
  /// Returns the entry of a rank, which is added if it does not exist.
  Peer& at(std::uint32_t rank);
  std::size_t bytes() const { return peers_.capacity() * sizeof(Peer); }

  /// Stores a load unless a later one of that rank is known. Returns true if it was stored.
  bool update(const Load& load);
  /// Returns the last known load of a rank, or a load with version 0 if none is known.
  Load load_of(std::uint32_t rank) const;

  /// Returns the loads to pass on to rank `to`: the most recent ones, at most `max_loads`, but not
  /// the load of `to` itself. Ranks with tasks come first; the many ranks without tasks make
  /// themselves known by their steal requests.
  std::vector<Load> recent_for(std::uint32_t to, std::size_t max_loads) const;

  /// The partners of this rank: the ranks whose numbers are larger by 1, 2, 4, …, modulo the number
  /// of ranks n. They are sorted by their distance from this rank, the nearest first. There are
  /// ceil(log2 n) partners. A rank gossips to its partners, and an idle rank asks its partners to
  /// remember it.
  std::span<const std::uint32_t> partners() const { return partners_; }
  /// Returns the next partner: successive calls go round all partners. Needs at least two ranks.
  std::uint32_t next_gossip_target() { return partners_[next_partner_++ % partners_.size()]; }

  /// Returns the rank to which a thief should send its request in wait number `wait`, if any.
  /// Candidates are the ranks known to have tasks, except those excluded by do_not_steal_from() and
  /// those with much less work per thread than the busiest one (kSimilar). Returns the nearest
  /// candidate; ties: the one with the most work.
  std::optional<std::uint32_t> known_victim(std::uint64_t wait, double now_s) const;
  /// Of the ranks that run tasks borrowed from this rank (Peer::holds_tasks) and are not excluded,
  /// returns the one with the most such tasks.
  std::optional<std::uint32_t> holder(std::uint64_t wait, double now_s) const;
  /// Draws a few random ranks that are not excluded, and returns the nearest.
  std::optional<std::uint32_t> random_victim(double now_s, Random& random) const;
  /// Excludes `rank` as a victim until time `until_s`, but not beyond the end of the wait in which
  /// this rank is now.
  void do_not_steal_from(std::uint32_t rank, double until_s) {
    at(rank).excluded_until_s = until_s;
  }
  bool may_be_victim(std::uint32_t rank, double now_s) const;
  /// To be called when this rank begins to wait for its tasks. Makes every rank a possible victim.
  void enter();

  /// True if the rank has reported, during wait number `wait`, that it has tasks.
  bool has_tasks(std::uint32_t rank, std::uint64_t wait) const;
  /// True if the rank may have tasks to give: it has reported tasks, it holds tasks of this rank,
  /// or it has not reported its load in wait number `wait`.
  bool may_have_tasks(std::uint32_t rank, std::uint64_t wait) const;

 private:
  std::optional<std::size_t> one_to_forget();
  void note_recent(const Load& load);
  Load load_of(const Peer& peer) const;

  std::uint32_t self_, num_ranks_;
  LocalityOf locality_of_;
  std::size_t capacity_, next_to_check_ = 0;
  std::vector<Peer> peers_;  // by rank
  /// Number of the newest wait of which this rank has heard; loads reported in earlier waits are
  /// outdated.
  std::uint64_t newest_wait_ = 0;
  std::vector<std::uint32_t> partners_;
  std::size_t next_partner_ = 0;
  // The loads that are worth passing on, at most kMaxCandidates: those of ranks with tasks first,
  // then the most recently updated ones. They are copied here, because looking up a rank in the
  // table costs several cache misses.
  std::vector<Load> recent_;
};

}  // namespace poise
