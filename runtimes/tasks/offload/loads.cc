// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/loads.h"

#include <algorithm>

#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

namespace {
// Compares version numbers, which wrap around.
bool is_later(std::uint32_t version, std::uint32_t than) {
  return than == 0 || static_cast<std::int32_t>(version - than) > 0;
}
}  // namespace

Loads::Loads(std::uint32_t self, const std::vector<double>& distances)
    : self_(self), known_(distances.size()) {
  const auto num_ranks = static_cast<std::uint32_t>(distances.size());
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    known_[rank].load.rank = rank;
    known_[rank].distance = distances[rank];
  }
  for (std::uint32_t ahead = 1; ahead < num_ranks; ahead *= 2)
    gossip_targets_.push_back((self + ahead) % num_ranks);
  std::stable_sort(gossip_targets_.begin(), gossip_targets_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return distances[a] < distances[b]; });
}

bool Loads::update(const Load& load) {
  Known& known = known_[load.rank];
  if (load.rank == self_ || !is_later(load.version, known.load.version)) return false;
  known.load = load;
  newest_wait_ = std::max(newest_wait_, load.wait);
  std::erase(recent_, load.rank);
  const auto spot = has_tasks(load.rank, newest_wait_)
                        ? recent_.begin()
                        : std::find_if(recent_.begin(), recent_.end(), [&](std::uint32_t rank) {
                            return !has_tasks(rank, newest_wait_);
                          });
  recent_.insert(spot, load.rank);
  if (recent_.size() > tuning::kMaxRecentLoads) recent_.pop_back();
  return true;
}

bool Loads::has_tasks(std::uint32_t rank, std::uint64_t wait) const {
  const Load& load = known_[rank].load;
  return load.queued >= 1 && load.wait == wait;
}

std::vector<Load> Loads::recent_for(std::uint32_t to, std::size_t max_loads) const {
  std::vector<Load> loads;
  for (const std::uint32_t rank : recent_)
    if (rank != to && loads.size() < max_loads) loads.push_back(known_[rank].load);
  return loads;
}

std::uint32_t Loads::next_gossip_target() {
  return gossip_targets_[next_gossip_target_++ % gossip_targets_.size()];
}

std::optional<std::uint32_t> Loads::victim(std::uint64_t wait, double now_s, Random& random) const {
  const auto is_candidate = [&](std::uint32_t rank) {
    return has_tasks(rank, wait) && known_[rank].may_be_victim(wait, now_s);
  };
  double max_s = 0;
  for (const std::uint32_t rank : recent_)
    if (is_candidate(rank)) max_s = std::max(max_s, known_[rank].load.busy_s);
  std::optional<std::uint32_t> best;
  for (const std::uint32_t rank : recent_) {
    if (!is_candidate(rank) || known_[rank].load.busy_s < tuning::kSimilarWork * max_s) continue;
    if (!best || known_[rank].is_better_victim_than(known_[*best])) best = rank;
  }
  if (best) return best;
  for (int i = 0; i < tuning::kRandomVictims; ++i) {
    const auto rank = static_cast<std::uint32_t>(random.below(known_.size()));
    if (rank == self_ || !known_[rank].may_be_victim(wait, now_s)) continue;
    if (!best || known_[rank].distance < known_[*best].distance) best = rank;
    if (known_[*best].distance <= 1) break;  // no rank is nearer
  }
  return best;
}

}  // namespace poise::tasks
