// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/lender.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

void LenderSide::handle_request(Message& message) {
  const Thief thief{message.from, message.wait, message.requested_at_s, message.reader.get<bool>()};
  if (messenger_.agent.asked_by(thief)) is_request_undecided_ = true;
}

void LenderSide::report_failure(const char* what) {
  if (!std::exchange(reported_failure_, true))
    std::fprintf(stderr, "poise: rank %u: Policy::%s: %s\n", messenger_.rank, what,
                 thrown_text().c_str());
}

PolicyView LenderSide::view(const TaskPool::State& state) const {
  const LendingAgent& agent = messenger_.agent;
  PolicyView seen;
  agent.pose(seen.problem, state, messenger_.now_s);
  seen.load_of_rank.resize(messenger_.num_ranks);
  for (const Peer& peer : agent.peers().all()) seen.load_of_rank[peer.rank] = peer.reported;
  seen.load_of_rank[messenger_.rank] = policy_.load ? reported_load_ : state.lendable;
  if (policy_.sees_queue) seen.queue = messenger_.pool.queue();
  seen.problem.view.load_of_rank = seen.load_of_rank;
  seen.problem.view.queue = seen.queue;
  return seen;
}

PolicyView LenderSide::updated_view(const TaskPool::State& state) {
  loads_.read_table();
  ask_policy_for_load(state);
  return view(state);
}

// Asks the program's policy which tasks to lend. Ignores loans that are impossible, for example to
// ranks that do not exist. If the policy throws, no task is lent, and only the first exception is
// printed.
std::vector<Loan> LenderSide::loans_of_policy(const TaskPool::State& state) {
  const PolicyView seen = view(state);
  std::vector<Loan> loans;
  if (seen.problem.others.empty()) return loans;
  try {
    loans = policy_.decide(seen.view());
  } catch (...) {
    report_failure("decide failed, so nothing was lent");
  }
  std::erase_if(loans, [&](const Loan& loan) { return !messenger_.agent.can_borrow(loan.rank); });
  return loans;
}

// Asks the program's policy for this rank's load, which the next messages tell to other ranks.
void LenderSide::ask_policy_for_load(const TaskPool::State& state) {
  if (!policy_.load) return;
  const PolicyView seen = view(state);
  try {
    reported_load_ = policy_.load(seen.view());
    messenger_.agent.report_load(reported_load_);
  } catch (...) {
    report_failure("load failed, so this rank reports its previous load");
  }
}

std::vector<Loan> LenderSide::decide(const TaskPool::State& state) {
  if (policy_.decide) return loans_of_policy(state);
  LendingAgent& agent = messenger_.agent;
  LoanProblem problem;
  agent.pose(problem, state, messenger_.now_s);
  if (problem.others.empty()) return {};
  return agent.loans(problem, state, messenger_.now_s,
                     [this] { return messenger_.pool.queue(true); });
}

void LenderSide::step(const TaskPool::State& state) {
  LendingAgent& agent = messenger_.agent;
  const bool is_due = agent.lending_is_due(messenger_.now_s);
  if (is_due) {
    const double begin_s = wall_now_s();
    if (state.lendable > 0) loads_.read_table();
    ask_policy_for_load(state);
    auto loans = state.lendable > 0 ? decide(state) : std::vector<Loan>{};
    const double end_s = wall_now_s();
    agent.decided(end_s, end_s - begin_s);
    const double task_bytes = state.bytes_out / std::max<std::size_t>(state.lendable, 1);
    lend_in_turn(loans, agent,
                 [&](Loan& loan, bool asked) { return lend_part(loan, task_bytes, asked); });
  }
  if (!is_due && state.lendable > 0) return;
  is_request_undecided_ = false;
  agent.decline_all();
}

std::vector<std::unique_ptr<Task>> LenderSide::take_for(const Loan& loan, double task_bytes,
                                                        bool borrowed_too) {
  // For the built-in policies, the number of tasks that may wait at the borrower is limited. The
  // program's own policy has no such limit.
  const std::size_t room =
      policy_.decide ? SIZE_MAX : messenger_.agent.room_at(loan.rank, task_bytes, messenger_.now_s);
  const std::size_t most = std::min<std::size_t>(loan.tasks, room);
  const std::set<std::uint64_t> names(loan.names.begin(), loan.names.end());
  const auto is_named = [&](const Task& task) {
    if (policy_.decide && task.owner != messenger_.rank) return false;
    return names.contains(policy_.decide ? task.extras->name : task.number);
  };
  if (!names.empty()) return messenger_.pool.take_for_lending(is_named);
  return messenger_.pool.take_for_lending(most, messenger_.agent.policy().settings().batch_bytes,
                                          borrowed_too);
}

// Returns the reason why this rank lends, for the trace. Called after the tasks were taken from the
// queue and before they are sent.
Reason LenderSide::reason_to_lend(std::uint32_t rank,
                                  const std::vector<std::unique_ptr<Task>>& tasks) const {
  const TaskPool::State state = messenger_.pool.state();
  const double num_tasks = tasks.size();
  Reason reason;
  reason.asked = messenger_.agent.is_thief(rank);
  reason.times_known = state.all_times_known;
  reason.tasks = tasks.size();
  double lent_s = 0, bytes = 0;
  for (const auto& task : tasks) {
    const double each_s = messenger_.pool.times().per_unit(task->function);
    reason.times_known &= each_s > 0;
    lent_s += each_s * task->cost;
    bytes += task->bytes().both();
  }
  const LendingAgent& agent = messenger_.agent;
  const double kept_s = state.queued_s + state.running_s, threads = agent.threads();
  const double work_s = num_tasks * agent.costs().overhead_s(state, bytes / num_tasks);
  reason.lender = {(kept_s + lent_s) / threads, (kept_s + work_s) / threads};
  const Borrower other = agent.borrower(rank, state);
  const double latency_s = agent.costs().links.latency_s(agent.peers().locality_of(rank));
  const double transfer_s = 2 * latency_s + bytes * other.byte_s;
  reason.borrower = {other.busy_s,
                     other.busy_s + transfer_s + work_s + lent_s * other.slowness / other.threads};
  return reason;
}

// Calls on_lend if the program has set it. If on_lend throws, the task fails on this rank.
bool LenderSide::prepare(std::unique_ptr<Task>& task) {
  if (!task->extras->on_lend) return true;
  try {
    std::exchange(task->extras.make().on_lend, nullptr)(task->items);
    return true;
  } catch (...) {
    task->fail("callback on_lend: " + thrown_text());
  }
  task->ran_on = messenger_.rank;
  task->enter(TaskState::ending);
  messenger_.finished.push_back(std::move(task));
  return false;
}

// Sends one message with tasks of `loan`, and removes these tasks from `loan`. Small tasks share a
// message, because the overhead of a message exceeds that of a small task. Returns whether another
// message should follow.
bool LenderSide::lend_part(Loan& loan, double task_bytes, bool asked) {
  constexpr std::uint32_t kMost = lending_tuning::kMaxTasksPerMessage;
  Loan part{loan.rank, std::min(loan.tasks, kMost)};
  if (loan.names.empty()) {
    const double fit = lending_tuning::kMessageBytes / std::max(task_bytes, 1.0);
    part.tasks = std::min<double>(part.tasks, std::max(fit, 1.0));
    loan.tasks -= part.tasks;
    return lend_batch(part, task_bytes, asked) == part.tasks && loan.tasks > 0;
  }
  const auto end = loan.names.begin() + std::min<std::ptrdiff_t>(kMost, std::ssize(loan.names));
  part.names.assign(loan.names.begin(), end);
  part.tasks = part.names.size();
  loan.names.erase(loan.names.begin(), end);
  lend_batch(part, task_bytes, asked);
  return !loan.names.empty();
}

// Writes the tasks into the message. Returns the number of bytes that the tasks carry to the
// borrower and bring back.
double LenderSide::pack(std::vector<std::unique_ptr<Task>>& tasks, std::uint32_t to, Writer& header,
                        std::vector<Payload>& payloads, const Reason& reason) {
  TraceRecorder* const recorder = messenger_.pool.recorder();
  double bytes = 0;
  header.put(static_cast<std::uint32_t>(tasks.size()));
  for (auto& task : tasks) {
    const bool is_own = task->owner == messenger_.rank;
    if (is_own) {
      lent_.reserve(*task);
      task->wants_collector = messenger_.agent.wants_collector();
    }
    const Bytes of_task = task->bytes();
    if (recorder)
      recorder->lent({messenger_.now_s, to, task->owner, task->slot, task->function,
                      of_task.out + of_task.back, reason});
    codec_.write(header, *task, to, payloads);
    bytes += of_task.both();
    if (is_own)
      lent_.keep(std::move(task));
    else
      task->enter(TaskState::sent);
  }
  return bytes;
}

std::size_t LenderSide::lend_batch(const Loan& loan, double task_bytes, bool borrowed_too) {
  const double begin_s = wall_now_s();
  auto tasks = take_for(loan, task_bytes, borrowed_too);
  std::erase_if(tasks, [this](std::unique_ptr<Task>& task) { return !prepare(task); });
  if (tasks.empty()) return 0;
  messenger_.pool.count_lent(tasks);
  returns_.send_results_of(loan.rank);
  const std::size_t num_tasks = tasks.size();
  const Reason reason = messenger_.pool.recorder() ? reason_to_lend(loan.rank, tasks) : Reason{};
  double run_s = 0;
  for (const auto& task : tasks)
    run_s += messenger_.pool.times().per_unit(task->function) * task->cost;
  LendingAgent& agent = messenger_.agent;
  const auto thief = agent.lent(loan.rank, num_tasks, run_s);
  Writer header =
      messenger_.begin(MessageKind::tasks, loan.rank, thief ? thief->requested_at_s : 0);
  messenger_.counters.answers += thief.has_value();
  std::vector<Payload> payloads;
  const double bytes = pack(tasks, loan.rank, header, payloads, reason);
  // A borrowed task that is lent on to another rank must stay alive until its data are sent.
  std::erase(tasks, nullptr);
  auto keep = std::make_shared<std::vector<std::unique_ptr<Task>>>(std::move(tasks));
  const double seconds = wall_now_s() - begin_s;
  agent.costs().packing.learn(num_tasks, bytes, seconds);
  messenger_.counters.transfer_s += seconds;
  count_lent_to(loan.rank, num_tasks);
  messenger_.send(loan.rank, std::move(header), std::move(payloads), std::move(keep));
  return num_tasks;
}

// Counts the tasks lent to each rank, to find the maximum. Counts for at most
// lending_tuning::kMaxPeers ranks.
void LenderSide::count_lent_to(std::uint32_t rank, std::size_t tasks) {
  if (lent_to_.size() >= lending_tuning::kMaxPeers && !lent_to_.contains(rank)) return;
  const std::uint64_t lent = lent_to_[rank] += tasks;
  if (lent <= messenger_.counters.lent_to_one) return;
  messenger_.counters.lent_to_one = lent;
  messenger_.counters.most_to = rank;
}

// Data items in the owner's memory are passed to the program with a null address, because the owner
// may have reused that memory.
void LenderSide::report_cancelled(const Task& task) {
  if (!policy_.cancelled) return;
  std::vector<Item> items(task.items.begin(), task.items.end());
  for (Item& item : items)
    if (task.owner != messenger_.rank && messenger_.arena.find(item.data, item.bytes))
      item.data = nullptr;
  try {
    policy_.cancelled(items, self_of(task));
  } catch (...) {
    report_failure("cancelled failed");
  }
}

}  // namespace poise::tasks
