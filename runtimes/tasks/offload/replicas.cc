// The part of the exchange that copies tasks to other ranks ahead of time. The copy is worth
// nothing without the task's token: whoever takes that first, a rank with a copy or the home that
// is about to start the task or to lend it, runs it; everybody else drops it.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"

#include "poise/base/error.h"

namespace poise::tasks {

namespace {

constexpr double kCopyEvery_s = 20e-6;

// What was sent from where the program has it may change there before it has left.
std::shared_ptr<const void> copied(std::vector<Large>& larges) {
  std::size_t bytes = 0;
  for (const Large& large : larges) bytes += large.bytes;
  auto copy = new_bytes(bytes);
  std::byte* next = copy.get();
  for (Large& large : larges) {
    std::memcpy(next, large.data, large.bytes);
    large.data = next;
    next += large.bytes;
  }
  return copy;
}

}  // namespace

void Exchange::want_replicas(const Workplace::State& state) {
  if (!program_.replicate || state.lendable == 0 || wanted_wait_ == wave_.wait()) return;
  wanted_wait_ = wave_.wait();
  std::vector<double> loads(num_ranks_);
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) loads[rank] = loads_.of(rank).stated;
  loads[rank_] = static_cast<double>(state.lendable);
  const auto queue = program_.sees_queue ? workplace_.queue() : std::vector<QueuedTask>{};
  try {
    for (Replication what :
         program_.replicate({.queued = static_cast<std::uint32_t>(state.lendable),
         .threads = static_cast<double>(threads_),
         .rank = rank_,
         .load_of_rank = loads,
         .queue = queue})) {
      std::erase_if(what.ranks,
                    [&](std::uint32_t rank) { return rank == rank_ || rank >= num_ranks_; });
      workplace_.want_replicas(what);
    }
  } catch (...) {  // nothing is copied ahead of time
  }
}

void Exchange::send_replicas() {
  if (now_s_ < next_replicas_s_) return;
  next_replicas_s_ = now_s_ + kCopyEvery_s;
  const auto reached = [&](std::uint32_t rank) { return loads_.of(rank).wait == wave_.wait(); };
  for (auto& task : workplace_.take_to_replicate(reached)) {
    if (!is_ready_to_leave(task)) continue;
    std::vector<std::uint32_t>& replicas = task->extras.make().replicas;
    for (const std::uint32_t rank : replicas)
      if (reached(rank)) send_replica(*task, rank);
    std::erase_if(replicas, reached);
    workplace_.take_back(std::move(task));
  }
}

void Exchange::send_replica(Task& task, std::uint32_t to) {
  Extras& extras = task.extras.make();
  if (!extras.token) extras.token = tokens_.make(extras.ticket);
  Writer head = begin(Kind::replica, to);
  const auto spot = arena_.shared_with(to) ? arena_.find(extras.token.get(), sizeof(std::uint64_t))
                                           : std::nullopt;
  head.put(spot.has_value());
  head.put(spot.value_or(Arena::Spot{}));
  std::vector<Large> larges;
  const std::uint64_t slot = std::exchange(task.slot, extras.ticket | kOfReplica);
  write_task(head, task, to, larges);
  task.slot = slot;
  ++counters_.replicas_sent;
  auto keep = larges.empty() ? nullptr : copied(larges);
  send(to, std::move(head), std::move(larges), std::move(keep));
}

void Exchange::handle_replica(const Post::Arrival& arrival, Reader& reader, std::uint32_t from) {
  const bool near = reader.get<bool>();
  const auto spot = reader.get<Arena::Spot>();
  auto* const token = near ? static_cast<std::uint64_t*>(arena_.at(spot)) : nullptr;
  read_task(arrival, reader, from, [this, token](std::unique_ptr<Task> task) {
    const Ticket ticket = task->slot & ~kOfReplica;
    replicas_.push_back({std::move(task), ticket, token});
  });
}

// Where a thread is free now: whoever has the token starts.
void Exchange::use_replicas(const Workplace::State& state) {
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
      workplace_.accept_borrowed(std::move(replica.task));
    } else {
      tell_cancelled(*replica.task);
      replica.task = nullptr;
    }
  }
  std::erase_if(replicas_, [](const Replica& replica) { return !replica.task; });
  while (busy < threads_ && claim_any()) ++busy;
}

// Not the oldest, which its home is about to start: the answer would be no, time after time.
bool Exchange::claim_any() {
  std::vector<Replica*> unclaimed;
  for (Replica& replica : replicas_)
    if (!replica.token && !replica.claimed) unclaimed.push_back(&replica);
  if (unclaimed.empty()) return false;
  Replica& replica = *unclaimed[random_.below(unclaimed.size())];
  replica.claimed = true;
  Writer head = begin(Kind::claim, replica.task->home);
  head.put(replica.ticket);
  send(replica.task->home, std::move(head));
  return true;
}

void Exchange::handle_claim(Reader& reader, std::uint32_t from) {
  const auto ticket = reader.get<Ticket>();
  Writer head = begin(workplace_.let_go(ticket) ? Kind::grant : Kind::refuse, from);
  head.put(ticket);
  send(from, std::move(head));
}

void Exchange::claimed(Reader& reader, std::uint32_t home, bool granted) {
  const auto ticket = reader.get<Ticket>();
  const auto replica = std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) {
    return r.ticket == ticket && r.task->home == home;
  });
  if (replica == replicas_.end()) return;  // refused after the wait has ended
  if (granted) {
    ++counters_.replicas_won;
    workplace_.accept_borrowed(std::move(replica->task));
  } else {
    tell_cancelled(*replica->task);
  }
  replicas_.erase(replica);
}

// What lies in the memory of its home may be in use again there.
void Exchange::tell_cancelled(const Task& task) {
  if (!program_.cancelled) return;
  std::vector<Item> items(task.items.begin(), task.items.end());
  for (Item& item : items)
    if (task.home != rank_ && arena_.find(item.data, item.bytes)) item.data = nullptr;
  try {
    program_.cancelled(items, self_of(task));
  } catch (...) {
    if (!std::exchange(said_policy_failed_, true))
      std::fprintf(stderr, "poise: rank %u goes on where its policy fails: %s\n", rank_,
                   thrown_text().c_str());
  }
}

// Once a wait has ended nobody wants them any more.
void Exchange::drop_replicas() {
  for (const Replica& replica : replicas_) tell_cancelled(*replica.task);
  replicas_.clear();
}

// An own task that has come back from where it was, as a loan or as a copy.
std::unique_ptr<Task> Exchange::take_away(std::uint64_t slot) {
  return slot & kOfReplica ? workplace_.take_elsewhere(slot & ~kOfReplica) : take_slot(slot);
}

}  // namespace poise::tasks
