// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/replicas.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "poise/base/error.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

// Returns a copy of the payload's data. The program may change or free the original data before the
// message is sent.
std::shared_ptr<std::byte> copy_of(const Payload& payload) {
  auto copy = new_bytes(payload.bytes);
  std::memcpy(copy.get(), payload.data, payload.bytes);
  return copy;
}

}  // namespace

void Replicas::step(const TaskPool::State& state, unsigned threads) {
  ask_policy(state);
  send();
  use(state, threads);
}

bool Replicas::is_reached(std::uint32_t rank) const {
  const Peer* const peer = messenger_.agent.peers().find(rank);
  return peer && peer->is_in(messenger_.agent.wait());
}

void Replicas::ask_policy(const TaskPool::State& state) {
  const std::uint64_t wait = messenger_.agent.wait();
  if (!lender_.policy().replicate || state.lendable == 0 || replicated_wait_ == wait) return;
  replicated_wait_ = wait;
  const PolicyView seen = lender_.updated_view(state);
  try {
    for (Replication what : lender_.policy().replicate(seen.view())) {
      std::erase_if(what.ranks, [&](std::uint32_t rank) {
        return rank == messenger_.rank || rank >= messenger_.num_ranks;
      });
      messenger_.pool.want_replicas(what);
    }
  } catch (...) {
    lender_.report_failure("replicate failed, so no further task was replicated in this wait");
  }
}

void Replicas::send() {
  if (messenger_.now_s < next_s_) return;
  next_s_ = messenger_.now_s + lending_tuning::kMinPause_s;
  const auto reached = [this](std::uint32_t rank) { return is_reached(rank); };
  std::map<std::uint32_t, Outgoing> messages;
  for (auto& task : messenger_.pool.take_to_replicate(reached)) {
    if (!lender_.prepare(task)) continue;
    std::vector<std::uint32_t>& replicas = task->extras.make().replicas;
    for (const std::uint32_t rank : replicas)
      if (reached(rank)) add(messages[rank], *task, rank);
    std::erase_if(replicas, reached);
    messenger_.pool.take_back(std::move(task));
  }
  for (auto& [rank, message] : messages)
    if (message.num_tasks > 0) send(std::move(message), rank);
}

// Adds a copy of the task to a message for rank `to`, and sends the message if it is then full.
void Replicas::add(Outgoing& message, Task& task, std::uint32_t to) {
  Extras& extras = task.extras.make();
  if (!extras.token) extras.token = tokens_.make(extras.ticket);
  const auto spot = messenger_.arena.shared_with(to)
                        ? messenger_.arena.find(extras.token.get(), sizeof(std::uint64_t))
                        : std::nullopt;
  if (message.num_tasks++ == 0) message.header = messenger_.begin(MessageKind::replica, to);
  message.header.put(true);  // another task follows
  message.header.put(spot.has_value());
  message.header.put(spot.value_or(Arena::Spot{}));
  const std::uint64_t slot = std::exchange(task.slot, extras.ticket | kReplicaBit);
  std::vector<Payload> payloads;
  codec_.write(message.header, task, to, payloads);
  task.slot = slot;
  for (const Payload& payload : payloads) {
    const auto copy = copy_of(payload);
    message.payloads.push_back({copy.get(), payload.bytes});
    message.payload_copies.push_back(copy);
    message.payload_bytes += payload.bytes;
  }
  const double bytes = message.header.size() + message.payload_bytes;
  if (message.num_tasks >= lending_tuning::kMaxTasksPerMessage ||
      bytes >= lending_tuning::kMessageBytes)
    send(std::exchange(message, {}), to);
}

void Replicas::send(Outgoing&& message, std::uint32_t to) {
  messenger_.counters.replicas_sent += message.num_tasks;
  message.header.put(false);
  auto keep =
      std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(message.payload_copies));
  messenger_.send(to, std::move(message.header), std::move(message.payloads), std::move(keep));
}

void Replicas::handle_replica(Message& message) {
  while (message.reader.get<bool>()) {
    const bool near = message.reader.get<bool>();
    const auto spot = message.reader.get<Arena::Spot>();
    auto* const token = near ? static_cast<std::uint64_t*>(messenger_.arena.at(spot)) : nullptr;
    codec_.read(message, [this, token](std::unique_ptr<Task> task) {
      const Ticket ticket = task->slot & ~kReplicaBit;
      task->enter(TaskState::replica);
      Replica replica{std::move(task), ticket, token};
      token ? near_.push_back(std::move(replica)) : far_.push_back(std::move(replica));
    });
  }
}

// Starts replicas on free threads. To start a replica, this rank must first get the token of the
// task. If the token is in shared memory, this rank takes the token; otherwise this rank asks the
// owner rank for the token.
void Replicas::use(const TaskPool::State& state, unsigned threads) {
  std::size_t busy = state.queued + state.running + claimed_.size();
  for (; busy < threads && !near_.empty(); near_.pop_front()) {
    Replica& oldest = near_.front();
    if (take_token(oldest.token, oldest.ticket)) {
      ++messenger_.counters.replicas_won;
      ++busy;
      messenger_.pool.accept_borrowed(std::move(oldest.task));
    } else {
      lender_.report_cancelled(*oldest.task);
    }
  }
  for (; busy < threads && !far_.empty(); ++busy) claim_one();
}

// Asks the owner rank of a replicated task for its token, without which the replica must not run
// here.
void Replicas::claim_one() {
  std::swap(far_[messenger_.agent.replica_to_claim(far_.size())], far_.back());
  const Replica& replica = claimed_.emplace_back(std::move(far_.back()));
  far_.pop_back();
  Writer header = messenger_.begin(MessageKind::claim, replica.task->owner);
  header.put(replica.ticket);
  messenger_.send(replica.task->owner, std::move(header));
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
  const auto replica = std::find_if(claimed_.begin(), claimed_.end(), [&](const Replica& r) {
    return r.ticket == ticket && r.task->owner == message.from;
  });
  if (replica == claimed_.end()) return;  // already dropped, because the wait has ended
  if (granted) {
    ++messenger_.counters.replicas_won;
    messenger_.pool.accept_borrowed(std::move(replica->task));
  } else {
    lender_.report_cancelled(*replica->task);
  }
  claimed_.erase(replica);
}

void Replicas::drop() {
  for (const Replica& replica : near_) lender_.report_cancelled(*replica.task);
  for (const Replica& replica : far_) lender_.report_cancelled(*replica.task);
  for (const Replica& replica : claimed_) lender_.report_cancelled(*replica.task);
  near_.clear();
  far_.clear();
  claimed_.clear();
}

}  // namespace poise::tasks
