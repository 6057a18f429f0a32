// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/load_exchange.h"

#include <algorithm>

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

LoadExchange::LoadExchange(MPI_Comm communicator, Messenger& messenger)
    : messenger_(messenger), table_(communicator, messenger.arena) {
  for (std::uint32_t rank = 0; rank < messenger.num_ranks; ++rank) {
    if (rank == messenger.rank) continue;
    if (messenger.arena.shared_with(rank)) node_.push_back(rank);
    if (!table_.is_visible_to(rank)) all_see_table_ = false;
  }
  const auto distance = [&](std::uint32_t rank) {
    return messenger.agent.peers().locality_of(rank).distance;
  };
  std::ranges::stable_sort(node_, {}, distance);
}

void LoadExchange::publish(const TaskPool::State& state) {
  if (node_.empty()) return;
  const Load load = messenger_.agent.own_load(state, wall_now_s());
  if (load.queued == 0 && published_.queued == 0 && load.wait == published_.wait) return;
  published_ = messenger_.agent.next_own_load(state, load.reported_at_s);
  table_.publish(published_);
}

void LoadExchange::read_table() {
  const std::size_t reads = std::min(node_.size(), lending_tuning::kMaxSearched);
  for (std::size_t i = 0; i < reads; ++i) {
    const std::uint32_t rank = node_[next_read_++ % node_.size()];
    if (const auto load = table_.load_of(rank)) messenger_.agent.hear(*load);
  }
}

bool LoadExchange::read_table(std::uint32_t rank) {
  const auto load = table_.load_of(rank);
  if (load) messenger_.agent.hear(*load);
  return load || !messenger_.arena.shared_with(rank);
}

void LoadExchange::gossip(const TaskPool::State& state) {
  if (all_see_table_ || !messenger_.agent.gossip_is_due(state, messenger_.now_s)) return;
  const std::uint32_t to = messenger_.agent.next_gossip_target();
  messenger_.send_quietly(to, messenger_.begin(MessageKind::load, to));
}

}  // namespace poise::tasks
