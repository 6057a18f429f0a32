// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/replicas.h"

#include <algorithm>
#include <cstring>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

// Copies the data of the payloads, because the program may change the original data before the
// messages are sent.
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

void Replicas::step(const TaskPool::State& state, unsigned threads) {
  ask_policy(state, threads);
  send();
  use(state, threads);
}

bool Replicas::is_reached(std::uint32_t rank) const {
  const Peer* const peer = messenger_.agent.peers().find(rank);
  return peer && peer->is_in(messenger_.agent.wait());
}

void Replicas::ask_policy(const TaskPool::State& state, unsigned threads) {
  const std::uint64_t wait = messenger_.agent.wait();
  if (!lender_.policy().replicate || state.lendable == 0 || replicated_wait_ == wait) return;
  replicated_wait_ = wait;
  std::vector<double> loads(messenger_.num_ranks);
  for (const Peer& peer : messenger_.agent.peers().all()) loads[peer.rank] = peer.reported;
  loads[messenger_.rank] = state.lendable;
  const auto queue =
      lender_.policy().sees_queue ? messenger_.pool.queue() : std::vector<QueuedTask>{};
  try {
    for (Replication what :
         lender_.policy().replicate({.queued = static_cast<std::uint32_t>(state.lendable),
         .threads = static_cast<double>(threads),
         .rank = messenger_.rank,
         .load_of_rank = loads,
         .queue = queue})) {
      std::erase_if(what.ranks, [&](std::uint32_t rank) {
        return rank == messenger_.rank || rank >= messenger_.num_ranks;
      });
      messenger_.pool.want_replicas(what);
    }
  } catch (...) {  // no task is replicated
  }
}

void Replicas::send() {
  if (messenger_.now_s < next_s_) return;
  next_s_ = messenger_.now_s + lending_tuning::kMinPause_s;
  const auto reached = [this](std::uint32_t rank) { return is_reached(rank); };
  for (auto& task : messenger_.pool.take_to_replicate(reached)) {
    if (!lender_.prepare(task)) continue;
    std::vector<std::uint32_t>& replicas = task->extras.make().replicas;
    for (const std::uint32_t rank : replicas)
      if (reached(rank)) send_one(*task, rank);
    std::erase_if(replicas, reached);
    messenger_.pool.take_back(std::move(task));
  }
}

void Replicas::send_one(Task& task, std::uint32_t to) {
  Extras& extras = task.extras.make();
  if (!extras.token) extras.token = tokens_.make(extras.ticket);
  Writer header = messenger_.begin(MessageKind::replica, to);
  const auto spot = messenger_.arena.shared_with(to)
                        ? messenger_.arena.find(extras.token.get(), sizeof(std::uint64_t))
                        : std::nullopt;
  header.put(spot.has_value());
  header.put(spot.value_or(Arena::Spot{}));
  std::vector<Payload> payloads;
  const std::uint64_t slot = std::exchange(task.slot, extras.ticket | kReplicaBit);
  codec_.write(header, task, to, payloads);
  task.slot = slot;
  ++messenger_.counters.replicas_sent;
  auto keep = payloads.empty() ? nullptr : copied(payloads);
  messenger_.send(to, std::move(header), std::move(payloads), std::move(keep));
}

void Replicas::handle_replica(Message& message) {
  const bool near = message.reader.get<bool>();
  const auto spot = message.reader.get<Arena::Spot>();
  auto* const token = near ? static_cast<std::uint64_t*>(messenger_.arena.at(spot)) : nullptr;
  codec_.read(message, [this, token](std::unique_ptr<Task> task) {
    const Ticket ticket = task->slot & ~kReplicaBit;
    task->enter(TaskState::replica);
    replicas_.push_back({std::move(task), ticket, token});
  });
}

// Starts replicas on free threads. Takes their tokens in shared memory; if a token is not there,
// asks the owner for it.
void Replicas::use(const TaskPool::State& state, unsigned threads) {
  if (replicas_.empty()) return;
  const auto is_claimed = [](const Replica& replica) { return replica.claimed; };
  const auto claimed = std::count_if(replicas_.begin(), replicas_.end(), is_claimed);
  std::size_t busy = state.queued + state.running + claimed;
  for (Replica& replica : replicas_) {
    if (busy >= threads) break;
    if (!replica.token) continue;
    if (take_token(replica.token, replica.ticket)) {
      ++messenger_.counters.replicas_won;
      ++busy;
      messenger_.pool.accept_borrowed(std::move(replica.task));
    } else {
      lender_.report_cancelled(*replica.task);
      replica.task = nullptr;
    }
  }
  std::erase_if(replicas_, [](const Replica& replica) { return !replica.task; });
  while (busy < threads && claim_one()) ++busy;
}

// Asks the owner for the token of a replica.
bool Replicas::claim_one() {
  std::vector<Replica*> unclaimed;
  for (Replica& replica : replicas_)
    if (!replica.token && !replica.claimed) unclaimed.push_back(&replica);
  if (unclaimed.empty()) return false;
  Replica& replica = *unclaimed[messenger_.agent.replica_to_claim(unclaimed.size())];
  replica.claimed = true;
  Writer header = messenger_.begin(MessageKind::claim, replica.task->owner);
  header.put(replica.ticket);
  messenger_.send(replica.task->owner, std::move(header));
  return true;
}

void Replicas::handle_claim(Message& message) {
  const auto ticket = message.reader.get<Ticket>();
  const bool granted = messenger_.pool.grant_replica(ticket);
  Writer header =
      messenger_.begin(granted ? MessageKind::grant : MessageKind::refuse, message.from);
  header.put(ticket);
  messenger_.send(message.from, std::move(header));
}

void Replicas::handle_answer(Message& message, bool granted) {
  const auto ticket = message.reader.get<Ticket>();
  const auto replica = std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) {
    return r.ticket == ticket && r.task->owner == message.from;
  });
  if (replica == replicas_.end()) return;  // already dropped, because the wait has ended
  if (granted) {
    ++messenger_.counters.replicas_won;
    messenger_.pool.accept_borrowed(std::move(replica->task));
  } else {
    lender_.report_cancelled(*replica->task);
  }
  replicas_.erase(replica);
}

void Replicas::drop() {
  for (const Replica& replica : replicas_) lender_.report_cancelled(*replica.task);
  replicas_.clear();
}

}  // namespace poise::tasks
