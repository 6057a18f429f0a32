// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/pool.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <pthread.h>
#include <span>
#include <utility>

#include "runtimes/tasks/tuning.h"

#include "poise/base/check.h"
#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

// The task that this thread runs, and its pool. While a task waits for its children, the thread may
// run another task; the entry of the waiting task is then saved, and restored afterwards.
struct Current {
  const TaskPool* pool = nullptr;
  Task* task = nullptr;         // null in a callback
  const void* batch = nullptr;  // the batch that contains the task
  // The list to which a newly submitted task is added: the children of the running task or, in a
  // callback, the siblings of the task that has ended. Null: the submitted task gets no parent.
  std::shared_ptr<Children>* family = nullptr;
  unsigned depth = 0;
  double waited_s = 0;  // time that the task has spent in waits and yields
};
thread_local Current running_of_thread;

// The stack of this thread, from its lowest address; empty if it is unknown.
std::span<const char> stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  return {static_cast<const char*>(begin), bytes};
}

// True if little of the thread's stack is free. False if the caller runs on another stack, such as
// that of a user-level thread.
bool is_stack_nearly_full() {
  thread_local const std::span<const char> stack = stack_of_thread();
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return here >= stack.data() &&
         here < stack.data() + static_cast<std::size_t>(tuning::kReservedStackShare * stack.size());
}

// Throws Error if the stack is nearly full. Not inline, so that its variables take no stack in the
// function that is nested.
[[gnu::noinline]] void check_stack(unsigned depth) {
  if (is_stack_nearly_full())
    fail(
        "the stack of a thread is nearly full, because {} tasks are nested on it; nest fewer "
        "tasks, or raise the limit of the stack (ulimit -s)",
        depth);
}

// An unused Task object per thread, for its next task: reusing it is faster than malloc.
thread_local std::unique_ptr<Task> blank_of_thread;

}  // namespace

TaskPool::TaskPool(std::uint32_t rank, std::vector<const Registered*> functions)
    : rank_(rank),
      functions_(std::move(functions)),
      times_(functions_.size()),
      queue_(functions_.size()) {}

Task* TaskPool::current() const {
  return running_of_thread.pool == this ? running_of_thread.task : nullptr;
}

Children* TaskPool::children() const {
  return current() ? running_of_thread.family->get() : nullptr;
}

std::unique_ptr<Task> TaskPool::blank() {
  return blank_of_thread ? std::move(blank_of_thread) : std::make_unique<Task>();
}

void TaskPool::submit(std::unique_ptr<Task> task, bool in_order) {
  const bool parent = running_of_thread.pool == this && running_of_thread.family;
  if (parent) {
    std::shared_ptr<Children>& family = *running_of_thread.family;
    if (!family) family = std::make_shared<Children>();
    task->siblings = family;
    task->has_parent = true;
    task->siblings->open.fetch_add(1, std::memory_order_relaxed);
  }
  task->owner = rank_;
  const std::lock_guard lock(mutex_);
  task->number = ++created_;
  ++counters_.submitted;
  if (!recycled_.empty()) {
    blank_of_thread = std::move(recycled_.back());
    recycled_.pop_back();
    blank_of_thread->prefetch();
  }
  if (in_order) task = tracker_of(*task).add(std::move(task));
  if (!task) return;  // the task waits for an earlier one
  enqueue(std::move(task), parent);
}

// Children of a task depend on one another only, never on their parent, which may wait for them.
DependencyTracker& TaskPool::tracker_of(const Task& task) {
  if (!task.siblings) return dependencies_;
  std::unique_ptr<DependencyTracker>& tracker = task.siblings->dependencies;
  if (!tracker) tracker = std::make_unique<DependencyTracker>();
  return *tracker;
}

void TaskPool::enqueue(std::unique_ptr<Task> task, bool newest_first) {
  if (task->extras && !task->extras->replicas.empty()) {
    task->extras.make().ticket = ++last_ticket_;
    task->replicated = true;
    ++num_to_replicate_;
  }
  queue_.push(std::move(task), newest_first);
  queued_.store(queue_.size(), std::memory_order_relaxed);
}

// True if a task taken from the queue may start here or be lent. False if another rank has started
// a copy of the task; this rank then only waits for the result.
bool TaskPool::is_ours(std::unique_ptr<Task>& task) {
  if (!task->extras || task->extras->ticket == 0) return true;
  Extras& extras = task->extras.make();
  if (!extras.replicas.empty()) --num_to_replicate_;
  extras.replicas.clear();
  const Ticket ticket = std::exchange(extras.ticket, 0);
  const auto token = std::exchange(extras.token, nullptr);
  if (!token || take_token(token.get(), ticket)) return true;
  keep_started_elsewhere(ticket, std::move(task));
  return false;
}

void TaskPool::keep_started_elsewhere(Ticket ticket, std::unique_ptr<Task> task) {
  task->enter(TaskState::replica_runs);
  started_elsewhere_.emplace(ticket, std::move(task));
}

struct TaskPool::Batch {
  std::array<std::unique_ptr<Task>, lending_tuning::kMaxAtOnce> tasks;
  std::size_t size = 0;
  double cost = 0, seconds = 0, waited_s = 0;

  Task& last() const { return *tasks[size - 1]; }
  bool add(std::unique_ptr<Task> task) {
    if (!task) return false;
    task->enter(TaskState::running);
    cost += task->cost;
    tasks[size++] = std::move(task);
    return true;
  }
};

void TaskPool::call(Batch& batch) {
  Task& task = batch.last();
  std::shared_ptr<Children> children;
  const Current before = std::exchange(
      running_of_thread, {this, &task, &batch, &children, running_of_thread.depth + 1, 0});
  try {
    if (before.depth > 0) check_stack(before.depth);
    functions_[task.function]->body(task.items);
  } catch (...) {
    task.fail(thrown_text());
  }
  batch.waited_s += running_of_thread.waited_s;
  running_of_thread = before;
  if (children) end_parent(*children);
}

// After the end of a task, failures of the task's children are reported by the wait that the
// program calls on this rank outside of tasks.
void TaskPool::end_parent(Children& children) {
  const std::lock_guard lock(mutex_);
  children.parent_has_ended = true;
  std::ranges::move(children.failures, std::back_inserter(failures_));
  children.failures.clear();
}

// Takes the next task to run. If the current task of this thread has children, these come first.
// Other tasks follow, as long as at most kMaxNestedWaits tasks are nested on this thread. Beyond
// that depth, a thread whose task has children takes only borrowed tasks for which a task of
// another rank may wait. If threads refused these tasks, too, all ranks could reach that depth and
// wait for one another forever. Borrowed tasks cannot wait for one another in a circle: a child
// starts after its parent, and a task that runs during a wait starts after the task that waits.
//
// If the current task has no children, the thread takes other tasks only when the current task
// yields. The current task does not depend on them, so at a depth above kMaxNestedYields the thread
// takes none.
std::unique_ptr<Task> TaskPool::pop() {
  const Children* const awaited = children();
  auto task = awaited ? queue_.pop_of(*awaited) : nullptr;
  if (task) return task;
  const unsigned depth = running_of_thread.depth;
  if (awaited && depth > tuning::kMaxNestedWaits) return queue_.pop_borrowed_child();
  return depth > tuning::kMaxNestedYields ? nullptr : queue_.pop();
}

void TaskPool::set_waiting(bool waits) {
  if (running_of_thread.depth > tuning::kMaxNestedWaits) return;
  const std::lock_guard lock(mutex_);
  std::ranges::find(running_, running_of_thread.batch, &Running::batch)->waits = waits;
}

void TaskPool::add_waited(double seconds) {
  if (current()) running_of_thread.waited_s += seconds;
}

// Takes the first task of a batch from the queue. A batch is a series of tasks that a thread runs
// in succession; only their total time is measured. From now on, the batch counts as running.
std::unique_ptr<Task> TaskPool::next(Batch& batch, double now_s) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Task> task;
  do task = pop();
  while (task && !is_ours(task));
  queued_.store(queue_.size(), std::memory_order_relaxed);
  if (task) running_.push_back({now_s, expected_s(*task), deviation_s(*task), &batch});
  return task;
}

std::unique_ptr<Task> TaskPool::next_of_batch(const Batch& batch) {
  const Task& before = batch.last();
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Task> task = queue_.pop_if(
      [&](const Task& next) { return next.function == before.function && can_be_batched(next); });
  queued_.store(queue_.size(), std::memory_order_relaxed);
  if (!task) return task;
  Running& running = *std::ranges::find(running_, &batch, &Running::batch);
  running.expected_s += expected_s(*task);
  running.deviation_s += deviation_s(*task);
  return task;
}

// True if the program never waits for this task alone, but only for all tasks together.
bool TaskPool::can_be_batched(const Task& task) const {
  return task.owner == rank_ && !task.extras && !task.siblings;
}

std::size_t TaskPool::run(double& now_s, std::size_t max_tasks,
                          const std::function<bool()>& is_notified) {
  Batch batch;
  if (!batch.add(next(batch, now_s))) return 0;
  if (recorder_) {
    // A trace shows the start of every task, so each task is a batch of its own. The clock is read
    // again, so that no borrowed task seems to start before it was lent.
    max_tasks = 1;
    now_s = wall_now_s();
  }
  do call(batch);
  while (batch.size < max_tasks && can_be_batched(batch.last()) && !is_notified() &&
         batch.add(next_of_batch(batch)));
  now_s = end(batch, now_s);
  const std::lock_guard lock(mutex_);
  std::erase_if(running_, [&](const Running& running) { return running.batch == &batch; });
  counters_.working_s += batch.seconds - batch.waited_s;
  for (std::size_t i = 0; i < batch.size; ++i) count_run(batch.tasks[i]);
  return batch.size;
}

// Ends a batch and returns the time when it ended.
double TaskPool::end(Batch& batch, double begin_s) {
  // The measured time includes the start of each task, which takes most of the time of a very short
  // task.
  const double end_s = wall_now_s();
  batch.seconds = end_s - begin_s;
  Task& last = batch.last();  // only the last task of a batch may have a result or a callback
  last.seconds = static_cast<float>(batch.seconds);
  last.has_waited = batch.waited_s > 0;
  if (!last.failed) times_.learn(last.function, batch.seconds, batch.cost, batch.size);
  if (recorder_) recorder_->ran(begin_s, end_s, last.function, last.owner, last.slot);
  return last.owner == rank_ && deliver(last) ? wall_now_s() : end_s;
}

// Counts a task that has run; called while the lock is held. Does not destroy tasks that may hold
// objects of the program, because their destructors must not run while the lock is held.
void TaskPool::count_run(std::unique_ptr<Task>& task) {
  last_function_ = task->function;
  last_cost_ = task->cost;
  if (task->owner != rank_) {
    task->enter(TaskState::ran);
    ++counters_.ran_borrowed;
    done_borrowed_.push_back(std::move(task));
    return;
  }
  ++counters_.ran_own;
  count_finished(*task, rank_);
  if (task->extras || recycled_.size() >= tuning::kMaxRecycledTasks) return;
  std::destroy_at(task.get());
  ::new (task.get()) Task;
  recycled_.push_back(std::move(task));
}

// Calls the program's callbacks. Returns true if it called any, which may have taken time. Removes
// the program's objects from the task, because the data to which they refer may be gone once the
// task counts as finished.
//
// The thread may be inside another task, which waits or polls. The callbacks do not belong to that
// task: the tasks that they submit become siblings of `task`.
bool TaskPool::deliver(Task& task) {
  if (!task.extras) return false;
  Extras& extras = task.extras.make();
  const Current before = std::exchange(
      running_of_thread, {this, nullptr, nullptr, task.siblings ? &task.siblings : nullptr,
                          running_of_thread.depth, 0});
  const auto call = [&](std::function<void()>&& what, const char* name) {
    const std::function<void()> once = std::exchange(what, nullptr);
    if (!once) return;
    try {
      once();
    } catch (...) {
      task.fail(name + thrown_text());
    }
  };
  extras.on_lend = nullptr;
  if (task.failed) extras.deliver = nullptr;
  call(std::move(extras.deliver), "reading the result: ");
  call(std::move(extras.on_finish), "callback on_finish: ");
  running_of_thread = before;
  return true;
}

// The caller must hold the lock.
void TaskPool::count_finished(Task& task, std::uint32_t ran_on) {
  task.enter(TaskState::finished);
  if (task.failed) {
    ++counters_.failed;
    const bool has_parent = task.siblings && !task.siblings->parent_has_ended;
    std::vector<Failure>& failures = has_parent ? task.siblings->failures : failures_;
    failures.push_back({functions_[task.function]->name, std::move(task.extras.make().error),
                        ran_on, task.extras->name, task.submitted_at});
  }
  if (task.extras && task.extras->ordered)
    for (auto& next : tracker_of(task).finish(*task.extras->ordered))
      enqueue(std::move(next), false);
  if (task.siblings) task.siblings->open.fetch_sub(1, std::memory_order_release);
  ++finished_;
}

void TaskPool::finish(std::unique_ptr<Task> task, std::uint32_t ran_on) {
  const double begin_s = wall_now_s();
  deliver(*task);
  const std::lock_guard lock(mutex_);
  count_finished(*task, ran_on);
  ++counters_.returned;
  finishing_.learn(1, task->bytes().both(), wall_now_s() - begin_s);
}

void TaskPool::accept_borrowed(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  ++borrowed_;
  task->number = ~++accepted_;
  task->queued = task->bytes();
  queue_.push_borrowed(std::move(task));
  queued_.store(queue_.size(), std::memory_order_relaxed);
}

void TaskPool::take_back(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  num_to_replicate_ += !task->extras->replicas.empty();
  task->queued = task->bytes();
  queue_.push(std::move(task), false);
  queued_.store(queue_.size(), std::memory_order_relaxed);
}

std::vector<std::unique_ptr<Task>> TaskPool::take_for_lending(std::size_t max_tasks,
                                                              double max_bytes, bool borrowed_too) {
  std::vector<std::unique_ptr<Task>> tasks;
  const std::lock_guard lock(mutex_);
  double bytes = 0;
  while (tasks.size() < max_tasks && (tasks.empty() || bytes < max_bytes)) {
    std::unique_ptr<Task> task = queue_.take_last(borrowed_too);
    if (!task) break;
    if (!is_ours(task)) continue;
    bytes += task->bytes().out;
    tasks.push_back(std::move(task));
  }
  queued_.store(queue_.size(), std::memory_order_relaxed);
  return tasks;
}

std::vector<std::unique_ptr<Task>> TaskPool::take_for_lending(
    const std::function<bool(const Task&)>& wanted) {
  const std::lock_guard lock(mutex_);
  auto tasks = queue_.take(wanted);
  std::erase_if(tasks, [&](std::unique_ptr<Task>& task) { return !is_ours(task); });
  queued_.store(queue_.size(), std::memory_order_relaxed);
  return tasks;
}

void TaskPool::count_lent(const std::vector<std::unique_ptr<Task>>& tasks) {
  const std::lock_guard lock(mutex_);
  for (const auto& task : tasks) {
    if (task->owner != rank_) --borrowed_;
    counters_.bytes_lent += task->bytes().out;
  }
  counters_.lent += tasks.size();
  ++counters_.loans;
}

std::vector<std::unique_ptr<Task>> TaskPool::take_to_replicate(
    const std::function<bool(std::uint32_t rank)>& can_receive) {
  if (num_to_replicate_ == 0) return {};
  const std::lock_guard lock(mutex_);
  auto tasks = queue_.take([&](const Task& task) {
    return std::any_of(task.extras->replicas.begin(), task.extras->replicas.end(), can_receive);
  });
  num_to_replicate_ -= tasks.size();
  return tasks;
}

void TaskPool::want_replicas(const Replication& what) {
  const std::lock_guard lock(mutex_);
  std::uint32_t remaining = what.tasks;
  queue_.for_each_lendable([&](Task& task) {
    if (remaining == 0 || task.owner != rank_ || task.extras->ticket != 0 || what.ranks.empty())
      return;
    --remaining;
    task.extras.make().replicas = what.ranks;
    task.extras.make().ticket = ++last_ticket_;
    task.replicated = true;
    ++num_to_replicate_;
  });
}

bool TaskPool::grant_replica(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  auto found = queue_.take_ticket(ticket);
  queued_.store(queue_.size(), std::memory_order_relaxed);
  // Takes the token of the task on behalf of the rank that asked for it. This fails if a third rank
  // has already taken the token.
  const bool here = found && is_ours(found);
  if (here) keep_started_elsewhere(ticket, std::move(found));
  return here;
}

std::unique_ptr<Task> TaskPool::take_started_elsewhere(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  auto found = queue_.take_ticket(ticket);
  queued_.store(queue_.size(), std::memory_order_relaxed);
  // A replica has taken the token. So is_ours() moves the task to started_elsewhere_ and returns
  // false.
  if (found) (void)is_ours(found);
  const auto gone = started_elsewhere_.find(ticket);
  POISE_CHECK(gone != started_elsewhere_.end());
  auto task = std::move(gone->second);
  started_elsewhere_.erase(gone);
  return task;
}

std::vector<QueuedTask> TaskPool::queue(bool by_number) const {
  std::vector<QueuedTask> tasks;
  const std::lock_guard lock(mutex_);
  queue_.for_each_lendable([&](const Task& task) {
    tasks.push_back({.name = by_number ? task.number : task.extras->name,
                     .task_s = times_.per_unit(task.function) * task.cost,
                     .bytes = task.bytes().both(),
                     .borrowed = task.owner != rank_,
                     .replicated = task.extras->ticket != 0,
                     .annotations = by_number ? nullptr : task.extras->annotations});
  });
  return tasks;
}

std::vector<std::unique_ptr<Task>> TaskPool::take_done_borrowed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_borrowed_, {});
}

void TaskPool::borrowed_departed(std::size_t tasks) {
  const std::lock_guard lock(mutex_);
  borrowed_ -= tasks;
}

TaskPool::State TaskPool::state() const {
  const double now_s = wall_now_s();
  State state;
  const std::lock_guard lock(mutex_);
  state.queued = queue_.size();
  state.lendable = queue_.num_lendable();
  for (const Running& running : running_) {
    if (running.waits) continue;
    ++state.running;
    const double elapsed_s = now_s - running.begin_s;
    state.running_s += remaining_s(elapsed_s, running.expected_s);
    state.running_deviation_s +=
        remaining_deviation_s(elapsed_s, running.expected_s, running.deviation_s);
  }
  state.all_borrowed = queue_.num_borrowed() > 0 && queue_.num_borrowed() == state.lendable;
  state.ran_s = times_.per_unit(last_function_) * last_cost_;
  state.ran = counters_.ran_own + counters_.ran_borrowed;
  state.tasks_differ = queue_.differ();
  state.bytes_out = queue_.bytes().out;
  state.bytes_both = queue_.bytes().both();
  state.finishing = finishing_;
  state.borrowed = borrowed_;
  state.done_borrowed = done_borrowed_.size();
  state.created = created_;
  state.finished = finished_;
  double shortest_s = std::numeric_limits<double>::infinity(), longest_s = 0;
  for (std::uint32_t f = 0; f < functions_.size(); ++f) {
    const double cost = queue_.cost()[f];
    if (cost <= 0) continue;
    const double each = times_.per_unit(f);
    if (each <= 0) state.all_times_known = false;
    shortest_s = std::min(shortest_s, each);
    longest_s = std::max(longest_s, each);
    state.queued_s += cost * each;
    state.queued_deviation_s += cost * each * times_.deviation(f);
  }
  state.tasks_differ |= longest_s > lending_tuning::kSimilar * shortest_s;
  return state;
}

std::vector<Failure> TaskPool::take_failures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

std::vector<Failure> TaskPool::take_failures_of(Children& children) {
  const std::lock_guard lock(mutex_);
  return std::exchange(children.failures, {});
}

Counters TaskPool::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace poise::tasks
