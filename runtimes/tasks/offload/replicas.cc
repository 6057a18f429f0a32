// SPDX-License-Identifier: BSD-3-Clause
// Replication, a part of the offload engine: it copies tasks to other ranks ahead of time. The
// first rank to take a task's token runs the task. That is a rank with a copy, or the owner rank,
// which takes the token before it starts or lends the task. All other copies are dropped.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/error.h"

namespace poise::tasks {

namespace {

// Copies the payloads, because the program may change its data before they are sent.
std::shared_ptr<const void> copied(std::vector<Payload>& payloads) {
  std::size_t bytes = 0;
  for (const Payload& payload : payloads) bytes += payload.bytes;
  auto copy = new_bytes(bytes);
  std::byte* next = copy.get();
  for (Payload& payload : payloads) {
    std::memcpy(next, payload.data, payload.bytes);
    payload.data = next;
    next += payload.bytes;
  }
  return copy;
}

}  // namespace

void OffloadEngine::want_replicas(const TaskPool::State& state) {
  if (!custom_policy_.replicate || state.lendable == 0 || replicated_wait_ == termination_.wait())
    return;
  replicated_wait_ = termination_.wait();
  std::vector<double> loads(num_ranks_);
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) loads[rank] = loads_.of(rank).stated;
  loads[rank_] = static_cast<double>(state.lendable);
  const auto queue = custom_policy_.sees_queue ? pool_.queue() : std::vector<QueuedTask>{};
  try {
    for (Replication what :
         custom_policy_.replicate({.queued = static_cast<std::uint32_t>(state.lendable),
         .threads = static_cast<double>(threads_),
         .rank = rank_,
         .load_of_rank = loads,
         .queue = queue})) {
      std::erase_if(what.ranks,
                    [&](std::uint32_t rank) { return rank == rank_ || rank >= num_ranks_; });
      pool_.want_replicas(what);
    }
  } catch (...) {  // no task is replicated
  }
}

void OffloadEngine::send_replicas() {
  if (now_s_ < next_replicas_s_) return;
  next_replicas_s_ = now_s_ + tuning::kReplicationInterval_s;
  const auto reached = [&](std::uint32_t rank) {
    return loads_.of(rank).wait == termination_.wait();
  };
  for (auto& task : pool_.take_to_replicate(reached)) {
    if (!prepare_to_lend(task)) continue;
    std::vector<std::uint32_t>& replicas = task->extras.make().replicas;
    for (const std::uint32_t rank : replicas)
      if (reached(rank)) send_replica(*task, rank);
    std::erase_if(replicas, reached);
    pool_.take_back(std::move(task));
  }
}

void OffloadEngine::send_replica(Task& task, std::uint32_t to) {
  Extras& extras = task.extras.make();
  if (!extras.token) extras.token = tokens_.make(extras.ticket);
  Writer header = begin(Kind::replica, to);
  const auto spot = arena_.shared_with(to) ? arena_.find(extras.token.get(), sizeof(std::uint64_t))
                                           : std::nullopt;
  header.put(spot.has_value());
  header.put(spot.value_or(Arena::Spot{}));
  std::vector<Payload> payloads;
  const std::uint64_t slot = std::exchange(task.slot, extras.ticket | kReplicaBit);
  write_task(header, task, to, payloads);
  task.slot = slot;
  ++counters_.replicas_sent;
  auto keep = payloads.empty() ? nullptr : copied(payloads);
  send(to, std::move(header), std::move(payloads), std::move(keep));
}

void OffloadEngine::handle_replica(const Transport::Arrival& arrival, Reader& reader,
                                   std::uint32_t from) {
  const bool near = reader.get<bool>();
  const auto spot = reader.get<Arena::Spot>();
  auto* const token = near ? static_cast<std::uint64_t*>(arena_.at(spot)) : nullptr;
  read_task(arrival, reader, from, [this, token](std::unique_ptr<Task> task) {
    const Ticket ticket = task->slot & ~kReplicaBit;
    replicas_.push_back({std::move(task), ticket, token});
  });
}

// Starts replicas on free threads if it can take their tokens.
void OffloadEngine::use_replicas(const TaskPool::State& state) {
  if (replicas_.empty()) return;
  const auto is_claimed = [](const Replica& replica) { return replica.claimed; };
  const auto claimed = std::count_if(replicas_.begin(), replicas_.end(), is_claimed);
  std::size_t busy = state.queued + state.running + static_cast<std::size_t>(claimed);
  for (Replica& replica : replicas_) {
    if (busy >= threads_) break;
    if (!replica.token) continue;
    if (take_token(replica.token, replica.ticket)) {
      ++counters_.replicas_won;
      ++busy;
      pool_.accept_borrowed(std::move(replica.task));
    } else {
      report_cancelled(*replica.task);
      replica.task = nullptr;
    }
  }
  std::erase_if(replicas_, [](const Replica& replica) { return !replica.task; });
  while (busy < threads_ && claim_random_replica()) ++busy;
}

// Asks the owner for a random replica. It would often refuse the oldest, which it starts next
// itself.
bool OffloadEngine::claim_random_replica() {
  std::vector<Replica*> unclaimed;
  for (Replica& replica : replicas_)
    if (!replica.token && !replica.claimed) unclaimed.push_back(&replica);
  if (unclaimed.empty()) return false;
  Replica& replica = *unclaimed[random_.below(unclaimed.size())];
  replica.claimed = true;
  Writer header = begin(Kind::claim, replica.task->owner);
  header.put(replica.ticket);
  send(replica.task->owner, std::move(header));
  return true;
}

void OffloadEngine::handle_claim(Reader& reader, std::uint32_t from) {
  const auto ticket = reader.get<Ticket>();
  Writer header = begin(pool_.grant_replica(ticket) ? Kind::grant : Kind::refuse, from);
  header.put(ticket);
  send(from, std::move(header));
}

void OffloadEngine::claimed(Reader& reader, std::uint32_t owner, bool granted) {
  const auto ticket = reader.get<Ticket>();
  const auto replica = std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) {
    return r.ticket == ticket && r.task->owner == owner;
  });
  if (replica == replicas_.end()) return;  // already dropped, because the wait has ended
  if (granted) {
    ++counters_.replicas_won;
    pool_.accept_borrowed(std::move(replica->task));
  } else {
    report_cancelled(*replica->task);
  }
  replicas_.erase(replica);
}

// Items in the owner's memory are given as null, because the owner may have reused that memory.
void OffloadEngine::report_cancelled(const Task& task) {
  if (!custom_policy_.cancelled) return;
  std::vector<Item> items(task.items.begin(), task.items.end());
  for (Item& item : items)
    if (task.owner != rank_ && arena_.find(item.data, item.bytes)) item.data = nullptr;
  try {
    custom_policy_.cancelled(items, self_of(task));
  } catch (...) {
    if (!std::exchange(reported_policy_failure_, true))
      std::fprintf(stderr, "poise: rank %u: Policy::cancelled failed: %s\n", rank_,
                   thrown_text().c_str());
  }
}

// Drops all replicas at the end of a wait, when every task has run.
void OffloadEngine::drop_replicas() {
  for (const Replica& replica : replicas_) report_cancelled(*replica.task);
  replicas_.clear();
}

// The task of this rank that a result belongs to; it ran as a loan or as a replica.
std::unique_ptr<Task> OffloadEngine::take_returned(std::uint64_t slot) {
  return slot & kReplicaBit ? pool_.take_started_elsewhere(slot & ~kReplicaBit) : take_slot(slot);
}

}  // namespace poise::tasks
