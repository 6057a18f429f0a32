// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/peer_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poise {

namespace {

// Compares two version numbers, which start again at 0 after the largest value.
bool is_later(std::uint32_t version, std::uint32_t than) {
  return than == 0 || static_cast<std::int32_t>(version - than) > 0;
}

bool has_tasks_in(const Load& load, std::uint64_t wait) {
  return load.queued >= 1 && load.wait == wait;
}

}  // namespace

PeerTable::PeerTable(std::uint32_t self, std::uint32_t num_ranks, LocalityOf locality_of,
                     std::size_t capacity)
    : self_(self),
      num_ranks_(num_ranks),
      locality_of_(std::move(locality_of)),
      capacity_(std::max<std::size_t>(1, capacity)) {
  for (std::uint64_t ahead = 1; ahead < num_ranks; ahead *= 2)
    partners_.push_back((self + ahead) % num_ranks);
  std::stable_sort(partners_.begin(), partners_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return locality_of_(a).distance < locality_of_(b).distance;
  });
}

// Chooses the rank to forget by the second-chance clock algorithm: the first rank from the current
// position on that has not been used since it was last checked. Ranks with tasks in flight, and
// ranks that have not answered a request, are forgotten only if there are no others, because this
// rank would send a forgotten rank another request. Returns nothing if no rank may be forgotten.
std::optional<std::size_t> PeerTable::one_to_forget() {
  for (const bool open_too : {false, true})
    for (std::size_t checked = 0; checked < 2 * peers_.size(); ++checked) {
      const std::size_t place = next_to_check_++ % peers_.size();
      Peer& peer = peers_[place];
      const bool is_open = peer.in_flight > 0 || std::isinf(peer.excluded_until_s);
      if (peer.is_pinned() || (is_open && !open_too)) continue;
      const bool was_used = peer.is_used;
      peer.is_used = false;
      if (!was_used) return place;
    }
  return std::nullopt;
}

const Peer* PeerTable::find(std::uint32_t rank) const {
  const auto found = std::ranges::lower_bound(peers_, rank, {}, &Peer::rank);
  return found != peers_.end() && found->rank == rank ? &*found : nullptr;
}

Peer& PeerTable::at(std::uint32_t rank) {
  auto place = std::ranges::lower_bound(peers_, rank, {}, &Peer::rank);
  if (place != peers_.end() && place->rank == rank) {
    place->is_used = true;
    return *place;
  }
  const auto forgotten = peers_.size() >= capacity_ ? one_to_forget() : std::nullopt;
  if (!forgotten) {
    place = peers_.insert(place, Peer());
  } else {  // entries move by one, over the forgotten entry, so that the one at `place` is free
    const auto gone = peers_.begin() + *forgotten;
    std::erase_if(recent_, [&](const Load& load) { return load.rank == gone->rank; });
    if (gone < place)
      place = std::move(gone + 1, place, gone);
    else
      std::move_backward(place, gone, gone + 1);
    *place = {};
  }
  place->rank = rank;
  return *place;
}

bool PeerTable::update(const Load& load) {
  if (load.rank == self_) return false;
  // Most loads that other ranks pass on are not new to this rank. Searching recent_ usually shows
  // this, and is faster than searching the table.
  const auto recent = std::ranges::find(recent_, load.rank, &Load::rank);
  if (recent != recent_.end() && !is_later(load.version, recent->version)) return false;
  const Peer* const known = find(load.rank);
  if (known && !is_later(load.version, known->version)) return false;
  Peer& peer = at(load.rank);
  peer.reported_at_s = load.reported_at_s;
  peer.version = load.version;
  peer.wait = load.wait;
  peer.busy_s = static_cast<float>(load.busy_s);
  peer.task_s = load.task_s;
  peer.queued = load.queued;
  peer.reported = load.reported;
  peer.threads = static_cast<std::uint16_t>(std::clamp(load.threads, 1.0F, 65535.0F));
  newest_wait_ = std::max(newest_wait_, load.wait);
  note_recent(load_of(peer));
  return true;
}

void PeerTable::note_recent(const Load& load) {
  std::erase_if(recent_, [&](const Load& other) { return other.rank == load.rank; });
  const auto spot = has_tasks_in(load, newest_wait_)
                        ? recent_.begin()
                        : std::ranges::find_if_not(recent_, [&](const Load& other) {
                            return has_tasks_in(other, newest_wait_);
                          });
  recent_.insert(spot, load);
  if (recent_.size() > lending_tuning::kMaxCandidates) recent_.pop_back();
}

Load PeerTable::load_of(std::uint32_t rank) const {
  const Peer* const peer = find(rank);
  return peer ? load_of(*peer) : Load{.rank = rank};
}

Load PeerTable::load_of(const Peer& peer) const {
  // The table stores only the low 32 bits of the number of each wait. The high 32 bits are those of
  // the newest wait that this rank knows.
  const std::uint64_t wait = peer.version == 0 ? 0 : (newest_wait_ >> 32 << 32) + peer.wait;
  return {.rank = peer.rank,
          .version = peer.version,
          .wait = wait,
          .reported_at_s = peer.reported_at_s,
          .busy_s = peer.busy_s,
          .task_s = peer.task_s,
          .queued = peer.queued,
          .threads = static_cast<float>(peer.threads),
          .reported = peer.reported};
}

bool PeerTable::has_tasks(std::uint32_t rank, std::uint64_t wait) const {
  const Peer* const peer = find(rank);
  return peer && peer->has_tasks(wait);
}

bool PeerTable::may_have_tasks(std::uint32_t rank, std::uint64_t wait) const {
  const Peer* const peer = find(rank);
  return !peer || !peer->is_in(wait) || peer->has_tasks(wait) || peer->holds_tasks(wait);
}

std::vector<Load> PeerTable::recent_for(std::uint32_t to, std::size_t max_loads) const {
  std::vector<Load> loads;
  loads.reserve(max_loads);
  for (const Load& load : recent_)
    if (load.rank != to && loads.size() < max_loads) loads.push_back(load);
  return loads;
}

bool PeerTable::may_be_victim(std::uint32_t rank, double now_s) const {
  const Peer* const peer = find(rank);
  return rank != self_ && (!peer || now_s >= peer->excluded_until_s);
}

std::optional<std::uint32_t> PeerTable::known_victim(std::uint64_t wait, double now_s) const {
  std::vector<const Load*> candidates;
  double max_s = 0;
  for (const Load& load : recent_) {
    if (!has_tasks_in(load, wait) || !may_be_victim(load.rank, now_s)) continue;
    candidates.push_back(&load);
    max_s = std::max(max_s, load.busy_s);
  }
  const Load* best = nullptr;
  for (const Load* const load : candidates) {
    if (lending_tuning::kSimilar * load->busy_s < max_s) continue;
    const auto is_better = [&] {
      const double here = locality_of_(load->rank).distance;
      const double there = locality_of_(best->rank).distance;
      return here < there || (here == there && load->busy_s > best->busy_s);
    };
    if (!best || is_better()) best = load;
  }
  return best ? std::optional(best->rank) : std::nullopt;
}

std::optional<std::uint32_t> PeerTable::holder(std::uint64_t wait, double now_s) const {
  const Peer* most = nullptr;
  for (const Peer& peer : peers_)
    if (peer.holds_tasks(wait) && may_be_victim(peer.rank, now_s) &&
        (!most || peer.in_flight > most->in_flight))
      most = &peer;
  return most ? std::optional(most->rank) : std::nullopt;
}

std::optional<std::uint32_t> PeerTable::random_victim(double now_s, Random& random) const {
  std::optional<std::uint32_t> best;
  double best_distance = 0;
  for (std::uint32_t i = 0; i < lending_tuning::kRandomTries; ++i) {
    const std::uint32_t rank = random.below(num_ranks_);
    if (!may_be_victim(rank, now_s)) continue;
    const double distance = locality_of_(rank).distance;
    if (!best || distance < best_distance) best = rank, best_distance = distance;
    if (best_distance <= 1) break;  // no rank can be nearer
  }
  return best;
}

void PeerTable::enter() {
  for (Peer& peer : peers_) peer.excluded_until_s = 0, peer.declines = 0;
}

}  // namespace poise
