// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that decides what to lend to whom, and lends it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/error.h"

namespace poise::tasks {

bool OffloadEngine::can_borrow(std::uint32_t rank) const {
  if (rank == rank_ || loads_.of(rank).wait != termination_.wait()) return false;
  return push_ || peers_[rank].steal_requested;
}

// The share of a stated load that should remain, given that the rank has worked since it stated it.
double OffloadEngine::share_remaining(const Load& load) const {
  const double since_s = std::max(0.0, now_s_ - load.stated_at_s);
  return load.busy_s > since_s ? 1 - since_s / load.busy_s : 0;
}

Borrower OffloadEngine::borrower(std::uint32_t rank, const TaskPool::State& state) const {
  const Load& load = loads_.of(rank);
  const Peer& peer = peers_[rank];
  const double lendable = static_cast<double>(std::max<std::size_t>(state.lendable, 1));
  const double bytes = state.bytes.both() / lendable;
  const double byte_s = links_.seconds_per_byte(peer.at), data_s = bytes * byte_s;
  // For a rank that does not know the time of its tasks, this rank's average is used.
  const double stated_at_s =
      load.queued > 0 && load.task_s <= 0
          ? std::max(load.busy_s, load.queued * state.queued_s / lendable / load.threads)
          : load.busy_s;
  return {.rank = rank,
          .busy_s = stated_at_s + peer.sum_in_flight_s * peer.slowness / load.threads,
          .threads = load.threads,
          .slowness = peer.slowness,
          .delay_s = 2 * links_.latency_s(peer.at) + data_s,
          .extra_s = overhead_s(state, bytes) + data_s,
          .byte_s = byte_s,
          .asks = peer.steal_requested,
          .distance = peer.at.distance};
}

// CPU seconds that one lent task costs this rank: packing it, unpacking its result, and finishing
// it.
double OffloadEngine::overhead_s(const TaskPool::State& state, double bytes) const {
  return packing_.seconds(bytes) + unpacking_.seconds(bytes) + state.finishing.seconds(bytes);
}

// Loans of functions whose run time is unknown: one task per thread for each idle rank that sent a
// steal request. This rank keeps one task for each of its threads, less the threads that pinned
// tasks will occupy.
std::vector<Loan> OffloadEngine::exploration_loans(const TaskPool::State& state) const {
  std::vector<Loan> loans;
  const auto pinned = static_cast<double>(state.queued - state.lendable);
  double remaining = static_cast<double>(state.lendable) - std::max(0.0, threads_ - pinned);
  for (const std::uint32_t rank : nearest_first_) {
    const Load& load = loads_.of(rank);
    if (!can_borrow(rank) || load.queued > 0 || peers_[rank].lent > peers_[rank].arrived) continue;
    const double tasks = std::min<double>(remaining, load.threads);
    if (tasks >= 1 && peers_[rank].steal_requested)
      loans.push_back({rank, static_cast<std::uint32_t>(tasks)});
    remaining -= tasks;
  }
  return loans;
}

std::vector<Loan> OffloadEngine::loans(const TaskPool::State& state) {
  std::vector<Borrower> others;
  std::vector<double> tasks, loads(num_ranks_);
  std::vector<std::uint32_t> ranks;
  tasks.push_back(static_cast<double>(state.lendable));  // this rank first, then the others
  ranks.push_back(rank_);
  for (const std::uint32_t rank : nearest_first_) {
    loads[rank] = loads_.of(rank).stated;
    if (!can_borrow(rank)) continue;
    others.push_back(borrower(rank, state));
    ranks.push_back(rank);
    tasks.push_back(
        loads_.of(rank).queued +
        static_cast<double>(peers_[rank].lent - std::min(peers_[rank].lent, peers_[rank].arrived)));
  }
  if (others.empty()) return {};
  loads[rank_] = custom_policy_.load ? stated_load_ : static_cast<double>(state.lendable);
  const double task_s = state.queued_s / static_cast<double>(state.lendable);
  const LendingView view{
      .task_s = task_s,
      .queued = static_cast<std::uint32_t>(std::min<std::size_t>(state.lendable, UINT32_MAX)),
      .busy_s = 0.5 * task_s * static_cast<double>(std::min<std::size_t>(state.running, threads_)) /
                threads_,
      .threads = static_cast<double>(threads_),
      .lend_s = overhead_s(state, state.bytes.both() / static_cast<double>(state.lendable)),
      .others = others,
      .rank = rank_,
      .load_of_rank = loads};
  if (custom_policy_.decide) return loans_of_policy(view);
  std::vector<Loan> loans;
  switch (policy_) {
    case 0: return state.all_times_known ? loans_by_cost(view, state) : exploration_loans(state);
    case 1: loans = paired_loans(tasks, 0, thresholds_); break;
    case 2: loans = lightest_loans(tasks, 0, thresholds_); break;
    default: break;
  }
  for (Loan& loan : loans) loan.rank = ranks[loan.rank];
  return loans;
}

// Where tasks differ in cost they are chosen one by one, because their number says little about the
// work.
std::vector<Loan> OffloadEngine::loans_by_cost(const LendingView& view,
                                               const TaskPool::State& state) {
  const bool sized = state.tasks_differ && state.lendable <= tuning::kMaxTasksBySize;
  if (sized && !could_gain(view, min_gain_)) return {};
  std::vector<QueuedTask> queue;
  if (sized) queue = pool_.queue(true);
  for (QueuedTask& task : queue) task.lend_s = overhead_s(state, task.bytes);
  LendingView whole = view;
  whole.queue = queue;
  auto loans = sized ? sized_loans(whole, min_gain_) : cost_aware_loans(view, min_gain_);
  if (!loans.empty() || now_s_ < next_exploration_s_) return loans;
  const double bytes = state.bytes.both() / static_cast<double>(state.lendable);
  loans = poise::exploration_loans(whole, TaskOverhead().seconds(bytes), min_gain_);
  next_exploration_s_ =
      now_s_ + std::max(tuning::kExplorationInterval_s,
                        exploration_cost_s(loans, view) / tuning::kExplorationShare);
  return loans;
}

// The cost of an exploration if lending still does not pay: the lender's overhead and the
// borrower's extra time.
double OffloadEngine::exploration_cost_s(const std::vector<Loan>& loans,
                                         const LendingView& view) const {
  double seconds = 0;
  for (const Loan& loan : loans)
    seconds +=
        loan.tasks * (view.lend_s + view.task_s * std::max(0.0, peers_[loan.rank].slowness - 1));
  return seconds;
}

// Asks the program's policy what to lend. Drops impossible loans. Prints the first exception.
std::vector<Loan> OffloadEngine::loans_of_policy(const LendingView& view) {
  LendingView whole = view;
  std::vector<QueuedTask> queue;
  if (custom_policy_.sees_queue) queue = pool_.queue();
  whole.queue = queue;
  std::vector<Loan> loans;
  try {
    loans = custom_policy_.decide(whole);
  } catch (...) {
    if (!std::exchange(reported_policy_failure_, true))
      std::fprintf(stderr, "poise: rank %u: the policy failed, so nothing was lent: %s\n", rank_,
                   thrown_text().c_str());
  }
  std::erase_if(
      loans, [&](const Loan& loan) { return loan.rank >= num_ranks_ || !can_borrow(loan.rank); });
  return loans;
}

// Asks the program's policy which load the next messages state.
void OffloadEngine::ask_policy_for_load(const TaskPool::State& state) {
  if (!custom_policy_.load) return;
  const auto queue = custom_policy_.sees_queue ? pool_.queue() : std::vector<QueuedTask>{};
  try {
    stated_load_ = custom_policy_.load({.queued = static_cast<std::uint32_t>(state.lendable),
                                        .threads = static_cast<double>(threads_),
                                        .rank = rank_,
                                        .queue = queue});
  } catch (...) {  // states the previous load again
  }
}

void OffloadEngine::lend_if_useful(const TaskPool::State& state) {
  const bool asked = std::exchange(has_steal_request_, false);
  if (!asked && now_s_ < next_decision_s_) return;
  if (state.lendable > 0) read_load_table();
  ask_policy_for_load(state);
  const std::vector<Loan> decided = state.lendable > 0 ? loans(state) : std::vector<Loan>{};
  next_decision_s_ = now_s_ + std::max(tuning::kDecisionInterval_s,
                                       tuning::kDecisionCostFactor * (clock_s() - now_s_));
  const double task_bytes = static_cast<double>(state.bytes.out) /
                            static_cast<double>(std::max<std::size_t>(state.lendable, 1));
  for (const Loan& loan : decided) lend(loan, task_bytes);
  if (!asked) return;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
    if (peers_[rank].steal_requested) decline(rank);
}

void OffloadEngine::decline(std::uint32_t rank) {
  peers_[rank].steal_requested = false;
  send(rank, begin(Kind::decline, rank, peers_[rank].requested_at_s));
}

// How many more tasks may wait at a rank. Lent data occupy memory on both ranks until the results
// are back, so at most `batch_bytes` wait there, or a few tasks per thread if these are large.
std::size_t OffloadEngine::room_at(std::uint32_t rank, double task_bytes) const {
  const Load& load = loads_.of(rank);
  const double there =
      load.queued * share_remaining(load) + static_cast<double>(peers_[rank].in_flight_s.size());
  const double most = std::max(tuning::kMaxWaitingPerThread * load.threads,
                               batch_bytes_ / std::max(task_bytes, 1.0));
  return static_cast<std::size_t>(std::max(0.0, most - there));
}

std::vector<std::unique_ptr<Task>> OffloadEngine::take_for(const Loan& loan, double task_bytes,
                                                           bool borrowed_too) {
  // The room limits the built-in policies only, not the program's own.
  const std::size_t room = custom_policy_.decide ? SIZE_MAX : room_at(loan.rank, task_bytes);
  const std::size_t most = std::min<std::size_t>(loan.tasks, room);
  const std::set<std::uint64_t> names(loan.names.begin(), loan.names.end());
  const auto is_named = [&](const Task& task) {
    if (custom_policy_.decide && task.owner != rank_) return false;
    return names.contains(custom_policy_.decide ? task.extras->name : task.number);
  };
  if (!names.empty()) return pool_.take_for_lending(is_named);
  return pool_.take_for_lending(most, batch_bytes_, borrowed_too);
}

// Why this rank lends, for the trace. Called after the tasks were taken from the queue and before
// they are sent.
Reason OffloadEngine::reason_to_lend(std::uint32_t rank,
                                     const std::vector<std::unique_ptr<Task>>& tasks) const {
  const TaskPool::State state = pool_.state();
  const auto num_tasks = static_cast<double>(tasks.size());
  Reason reason;
  reason.asked = peers_[rank].steal_requested;
  reason.times_known = state.all_times_known;
  reason.tasks = static_cast<std::uint32_t>(tasks.size());
  double lent_s = 0, bytes = 0;
  for (const auto& task : tasks) {
    const double each_s = pool_.times().per_unit(task->function);
    reason.times_known &= each_s > 0;
    lent_s += each_s * task->cost;
    bytes += task->bytes().both();
  }
  const double task_s =
      (state.queued_s + lent_s) / (static_cast<double>(state.lendable) + num_tasks);
  const double kept_s = state.queued_s + 0.5 * task_s * static_cast<double>(state.running);
  const double work_s = num_tasks * overhead_s(state, bytes / num_tasks);
  reason.lender = {(kept_s + lent_s) / threads_, (kept_s + work_s) / threads_};
  const Borrower other = borrower(rank, state);
  const double transfer_s = 2 * links_.latency_s(peers_[rank].at) + bytes * other.byte_s;
  reason.borrower = {other.busy_s,
                     other.busy_s + transfer_s + work_s + lent_s * other.slowness / other.threads};
  return reason;
}

// Calls on_lend if the program set one. If it throws, the task fails on this rank.
bool OffloadEngine::prepare_to_lend(std::unique_ptr<Task>& task) {
  if (!task->extras->on_lend) return true;
  try {
    std::exchange(task->extras.make().on_lend, nullptr)(task->items);
    return true;
  } catch (...) {
    task->fail("in its on_lend: " + thrown_text());
  }
  task->ran_on = rank_;
  finished_.push_back(std::move(task));
  return false;
}

void OffloadEngine::assign_slot(Task& task) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  task.slot = free_slots_.back();
  free_slots_.pop_back();
}

// Lends in several messages, so that the borrower starts while this rank packs the next one. Small
// tasks share a message, because a message costs more than they do.
void OffloadEngine::lend(Loan loan, double task_bytes) {
  const bool asked = peers_[loan.rank].steal_requested;
  if (!loan.names.empty()) {
    lend_named(loan, task_bytes, asked);
    return;
  }
  const auto part = static_cast<std::uint32_t>(std::clamp<double>(
      tuning::kMessageBytes / std::max(task_bytes, 1.0), 1, tuning::kMaxTasksPerMessage));
  for (std::uint32_t remaining = loan.tasks; remaining > 0; remaining -= loan.tasks) {
    loan.tasks = std::min(remaining, part);
    if (lend_batch(loan, task_bytes, asked) < loan.tasks) return;
  }
}

void OffloadEngine::lend_named(const Loan& loan, double task_bytes, bool asked) {
  for (auto next = loan.names.begin(); next != loan.names.end();) {
    const auto end =
        next + std::min<std::ptrdiff_t>(tuning::kMaxTasksPerMessage, loan.names.end() - next);
    lend_batch({loan.rank, static_cast<std::uint32_t>(end - next), {next, end}}, task_bytes, asked);
    next = end;
  }
}

std::size_t OffloadEngine::lend_batch(const Loan& loan, double task_bytes, bool borrowed_too) {
  const double begin_s = clock_s();
  Peer& peer = peers_[loan.rank];
  auto tasks = take_for(loan, task_bytes, borrowed_too);
  std::erase_if(tasks, [this](std::unique_ptr<Task>& task) { return !prepare_to_lend(task); });
  if (tasks.empty()) return 0;
  TraceRecorder* const recorder = pool_.recorder();
  const Reason reason = recorder ? reason_to_lend(loan.rank, tasks) : Reason{};
  Writer header = begin(Kind::tasks, loan.rank, peer.steal_requested ? peer.requested_at_s : 0);
  counters_.answers += peer.steal_requested;
  peer.steal_requested = false;
  peer.lent += tasks.size();
  header.put(static_cast<std::uint32_t>(tasks.size()));
  std::vector<Payload> payloads;
  auto lent_on =
      std::make_shared<std::vector<std::unique_ptr<Task>>>();  // alive until their data are sent
  double bytes = 0;
  for (auto& task : tasks) {
    const double task_s = pool_.times().per_unit(task->function) * task->cost;
    peer.in_flight_s.push_back(task_s);
    peer.sum_in_flight_s += task_s;
    if (task->owner == rank_) assign_slot(*task);
    const Bytes of_task = task->bytes();
    if (recorder)
      recorder->lent({now_s_, loan.rank, task->owner, task->slot, task->function,
                      of_task.out + of_task.back, reason});
    write_task(header, *task, loan.rank, payloads);
    bytes += of_task.both();
    if (task->owner == rank_)
      slots_[task->slot] = std::move(task);
    else
      lent_on->push_back(std::move(task));
  }
  const double seconds = clock_s() - begin_s;
  packing_.learn(tasks.size(), bytes, seconds);
  counters_.transfer_s += seconds;
  if (peer.lent > counters_.lent_to_one) {
    counters_.lent_to_one = peer.lent;
    counters_.most_to = loan.rank;
  }
  send(loan.rank, std::move(header), std::move(payloads), std::move(lent_on));
  return tasks.size();
}

}  // namespace poise::tasks
