#include "runtimes/tasks/loads.h"

#include <algorithm>

namespace poise::tasks {

namespace {
constexpr std::size_t kLatest = 8;
constexpr int kRandomTries = 4;
}  // namespace

Loads::Loads(std::uint32_t self, std::uint32_t num_ranks) : self_(self), known_(num_ranks) {
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) known_[rank].load.rank = rank;
}

bool Loads::hear(const Load& load) {
  Known& known = known_[load.rank];
  if (load.rank == self_ || load.version <= known.load.version) return false;
  known.load = load;
  newest_wait_ = std::max(newest_wait_, load.wait);
  std::erase(latest_, load.rank);
  const auto spot = has_tasks(load.rank, newest_wait_)
                        ? latest_.begin()
                        : std::find_if(latest_.begin(), latest_.end(), [&](std::uint32_t rank) {
                            return !has_tasks(rank, newest_wait_);
                          });
  latest_.insert(spot, load.rank);
  if (latest_.size() > kLatest) latest_.pop_back();
  return true;
}

bool Loads::has_tasks(std::uint32_t rank, std::uint64_t wait) const {
  const Load& load = known_[rank].load;
  return load.queued >= 1 && load.wait == wait;
}

std::vector<Load> Loads::news(std::uint32_t to, std::size_t most) const {
  std::vector<Load> loads;
  for (const std::uint32_t rank : latest_)
    if (rank != to && loads.size() < most) loads.push_back(known_[rank].load);
  return loads;
}

std::uint32_t Loads::next_listener() {
  const auto num_ranks = static_cast<std::uint32_t>(known_.size());
  const std::uint32_t to = (self_ + distance_) % num_ranks;
  distance_ = distance_ * 2 < num_ranks ? distance_ * 2 : 1;
  return to;
}

std::optional<std::uint32_t> Loads::lender(std::uint64_t wait, double now_s, Random& random) const {
  std::optional<std::uint32_t> best;
  double most_s = -1;
  for (const std::uint32_t rank : latest_) {
    const Known& known = known_[rank];
    if (!has_tasks(rank, wait) || !known.may_be_asked(wait, now_s)) continue;
    if (known.load.busy_s > most_s) best = rank, most_s = known.load.busy_s;
  }
  if (best) return best;
  for (int i = 0; i < kRandomTries; ++i) {
    const auto rank = static_cast<std::uint32_t>(random.below(known_.size()));
    if (rank == self_ || !known_[rank].may_be_asked(wait, now_s)) continue;
    return rank;
  }
  return std::nullopt;
}

}  // namespace poise::tasks
