// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/runtime.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <new>

#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/end_job.h"
#include "runtimes/tasks/start/start.h"
#include "runtimes/tasks/summary.h"
#include "runtimes/tasks/transport/backoff.h"
#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/transport/locality.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/check.h"
#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

thread_local Context* context_of_thread = nullptr;

// The last yield of this thread, if it found no task to run: which task yielded, when the yield
// ended, and how long it took.
struct FailedYield {
  const Task* task = nullptr;
  double end_s = 0, seconds = 0;
};
thread_local FailedYield failed_yield_of_thread;
// The runtime whose offload engine this thread has locked.
thread_local const Runtime* engine_locked_here = nullptr;

// One mutex for all contexts of the process: below MPI_THREAD_MULTIPLE, only one thread of the
// process may call MPI at a time.
std::mutex& mutex_of_mpi() {
  static std::mutex mutex;
  return mutex;
}

// Returns the offset at which a literal argument is stored after other literals. The alignment
// follows from the argument's size, because no type needs an alignment above its size.
std::size_t literal_offset(std::size_t end, const Item& literal) {
  return aligned(end, std::bit_floor(std::clamp<std::size_t>(literal.bytes, 1, 16)));
}

// Copies a literal argument into the task, because the memory of the argument belongs to the
// submitter. Returns the offset at which the copied literals end. If this offset would exceed
// `room`, copies nothing.
std::size_t copy_literal(Item& literal, std::byte* memory, std::size_t end, std::size_t room) {
  const std::size_t begin = literal_offset(end, literal);
  end = begin + literal.bytes;
  if (end <= room) literal.data = std::memcpy(memory + begin, literal.data, literal.bytes);
  return end;
}

void store_many_literals(Task& task, std::size_t bytes) {
  std::byte* const memory = (task.extras.make().storage = new_bytes(bytes)).get();
  std::size_t end = 0;
  for (Item& item : task.items)
    if (item.is_value()) end = copy_literal(item, memory, end, bytes);
}

// Stores the data items of a task in one pass: this work is a large part of a task's overhead.
void store_items(Task& task, std::span<const Item> items) {
  const std::size_t room = task.small_literals.size();
  std::size_t end = 0;
  task.queued = {};
  Item* next = task.items.resize(items.size());
  for (const Item& given : items) {
    Item& item = *next++ = Item::of(given.data, given.bytes, given.mode);
    task.queued.add(item);
    if (item.is_value()) end = copy_literal(item, task.small_literals.data(), end, room);
  }
  if (end > room) store_many_literals(task, end);
}

void throw_if_any(const std::vector<Failure>& failures) {
  if (!failures.empty()) throw TaskFailed(failures.front(), failures.size());
}

// Aborts the job. Destructors call it, because they must not throw.
[[noreturn]] void abort_with(const char* why) {
  std::fprintf(stderr, "poise: %s\n", why);
  std::abort();
}

// Keeps the engine of a context alive after an exception has destroyed the context, because other
// ranks may still send messages to this rank. These ranks stay in their wait for all tasks, and
// report that this rank has not entered the wait.
void abandon(std::unique_ptr<OffloadEngine> engine) {
  static auto& abandoned = *new std::vector<std::unique_ptr<OffloadEngine>>;
  abandoned.push_back(std::move(engine));
}

}  // namespace

Runtime::Runtime(Context& owner, MPI_Comm communicator, const ContextOptions& options)
    : owner_(owner),
      settings_((check_mpi(communicator), agreed_settings(communicator, options))),
      engine_mutex_(thread_level() == MPI_THREAD_MULTIPLE ? own_mutex_ : mutex_of_mpi()) {
  any_thread_ = may_any_thread_call();
  poll_s_ = settings_["poll_us"] * 1e-6;
  patience_s_ = settings_["patience_s"];
  const auto functions = registered_functions();
  function_numbers_ = number_functions(communicator, functions);
  std::vector<const Registered*> in_order(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f) in_order[function_numbers_[f]] = functions[f];
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  pool_ = std::make_unique<TaskPool>(static_cast<std::uint32_t>(rank), std::move(in_order));
  const Locality locality = discover_locality(communicator);
  engine_ =
      std::make_unique<OffloadEngine>(communicator, locality, settings_, options.policy, *pool_);
  trace_path_ = next_trace_path(communicator);
  if (!trace_path_.empty())
    recorder_ = std::make_unique<TraceRecorder>(communicator, locality.nodes, options.threads);
  pool_->record(recorder_.get());
  start_threads(options.threads - 1, communicator);
}

// Starts the threads of this rank. If that fails on any rank, throws SystemError on all ranks.
void Runtime::start_threads(unsigned own, MPI_Comm communicator) {
  std::string error;
  try {
    for (own_threads_ = 0; own_threads_ < own; ++own_threads_)
      threads_.emplace_back([this] { work_in_background(); });
    if (wants_progress_thread(settings_) && engine_->messenger().num_ranks > 1)
      threads_.emplace_back([this] { progress_in_background(); });
  } catch (const std::system_error& refused) {
    error = fmt::format("a tasks::Context wants {} more threads, but the system allows {}: {}", own,
                        threads_.size(), refused.what());
  }
  const std::string first = first_error(communicator, error);
  if (first.empty()) return;
  stop_threads();
  throw SystemError(error.empty() ? first : error);
}

void Runtime::stop_threads() {
  {
    const std::lock_guard lock(wait_mutex_);
    closing_ = true;
  }
  wait_changed_.notify_all();
  engine_->doorbells().progress_parker().wake();
  for (std::thread& thread : threads_) thread.join();
}

Runtime::~Runtime() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) abort_with("a tasks::Context must be destroyed before MPI_Finalize");
  // If an exception destroys this context, the contexts of other ranks may live on. So this rank
  // does not wait for the other ranks.
  const bool is_abandoned = std::uncaught_exceptions() > exceptions_;
  try {
    if (!is_abandoned) wait(1);
  } catch (const TaskFailed&) {  // a destructor must not throw
  } catch (const Error& error) {
    abort_with(error.what());
  }
  stop_threads();
  if (is_abandoned) {
    abandon(std::move(engine_));
    return;
  }
  engine_->drain();
  if (recorder_) write_trace();
  if (settings_["summary"] > 0) {
    const std::string text = summary();
    std::fputs(text.c_str(), stderr);
  }
}

// Writes the trace. An error is printed and otherwise ignored.
void Runtime::write_trace() {
  const std::vector<RankTrace> ranks =
      recorder_->gathered(engine_->messenger().transport.communicator());
  if (engine_->messenger().rank != 0) return;
  if (std::any_of(ranks.begin(), ranks.end(), is_cut))
    std::fprintf(stderr,
                 "poise: the trace %s is incomplete: of each rank it has only the first %zu tasks, "
                 "loans and waits\n",
                 trace_path_.c_str(), tuning::kMaxEvents);
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < function_numbers_.size(); ++f)
    names.push_back(pool_->function(f).name);
  try {
    write_file(trace_path_, trace_json(ranks, names));
  } catch (const Error& error) {
    std::fprintf(stderr, "poise: the trace of tasks cannot be written: %s\n", error.what());
  }
}

Context* Runtime::current_context() { return context_of_thread; }

Self Runtime::self() const {
  const Task* task = pool_->current();
  if (!task) fail("tasks::Context::self() works only inside a task of this context");
  return self_of(*task);
}

void Runtime::describe(Task& task, With&& with) const {
  if (!(with.cost >= 0) || std::isinf(with.cost))
    fail("With::cost is {}; the cost of a task must be a finite number of 0 or more", with.cost);
  task.cost = with.cost;
  task.priority = with.priority;
  task.pinned = with.pinned;
  if (with.name != 0) task.extras.make().name = with.name;
  if (!with.annotations.empty())
    task.extras.make().annotations =
        std::make_shared<const Annotations>(std::move(with.annotations));
  for (const std::uint32_t rank : with.replicas) {
    if (rank >= engine_->messenger().num_ranks)
      fail("With::replicas contains rank {}, but the context has only {} ranks, numbered from 0",
           rank, engine_->messenger().num_ranks);
    if (rank != engine_->messenger().rank && !with.pinned)
      task.extras.make().replicas.push_back(rank);
  }
  if (with.on_finish) task.extras.make().on_finish = std::move(with.on_finish);
  if (with.on_lend) task.extras.make().on_lend = std::move(with.on_lend);
}

[[noreturn]] void Runtime::refuse(FunctionId function) {
  const auto functions = registered_functions();
  if (function >= functions.size())
    fail("function id {} is not registered; use the id that its registration returned",
         static_cast<std::int32_t>(function));
  fail("function \"{}\" was registered after the context was created; register it earlier",
       functions[function]->name);
}

void Runtime::submit(With* with, FunctionId function, std::span<const Item> items,
                     std::source_location submitted_at, std::function<void()>&& deliver) {
  if (function >= function_numbers_.size()) refuse(function);
  auto task = TaskPool::blank();
  task->function = function_numbers_[function];
  task->submitted_at = submitted_at;
  if (with) describe(*task, std::move(*with));
  if (deliver) task->extras.make().deliver = std::move(deliver);
  store_items(*task, items);
  pool_->submit(std::move(task), with && with->ordered);
}

void Runtime::progress() {
  if (!any_thread_ && !is_main_thread()) return;
  step_and_unlock(std::unique_lock(engine_mutex_, std::try_to_lock));
}

// Lets MPI progress during a wait. Under MPI_THREAD_SERIALIZED the program may call MPI again once
// the wait has ended, so a thread that notices the end late must not call MPI.
void Runtime::progress_in_wait() {
  if (!any_thread_ && !is_main_thread()) return;
  std::unique_lock lock(engine_mutex_, std::try_to_lock);
  if (done_.load() < wait_.load()) step_and_unlock(std::move(lock));
}

// Ends the job if memory runs out, because the engine has then lost a message or a part of one, for
// which other ranks wait.
void Runtime::step_engine(double now_s) {
  engine_locked_here = this;
  try {
    engine_->step(now_s, wait_.load(), all_inside_.load(), own_threads_ + team_.load());
  } catch (const std::bad_alloc&) {
    end_job(
        fmt::format("rank {} has no memory left for lent tasks and messages; start fewer ranks per "
                    "node, or lend nothing (POISE_TASKS_POLICY=none)",
                    engine_->messenger().rank));
  }
  engine_locked_here = nullptr;
}

void Runtime::step_and_unlock(std::unique_lock<std::mutex> lock) {
  if (!lock) return;
  const double now = wall_now_s();
  const bool was_called = engine_->has_messages();
  const bool is_cold =
      now - last_poll_s_.load(std::memory_order_relaxed) > lending_tuning::kNewsDelay_s;
  step_engine(now);
  done_.store(engine_->done_wait());
  auto finished = engine_->take_finished();
  last_poll_s_.store(now, std::memory_order_relaxed);
  if (!was_called && is_cold && pool_->queued() > 0)
    poll_cost_s_.store(moved_poll_cost_s(poll_cost_s_, wall_now_s() - now));
  report_missing(now);
  lock.unlock();
  Context* const before = std::exchange(context_of_thread, &owner_);
  for (auto& task : finished) {
    const std::uint32_t ran_on = task->ran_on;
    pool_->finish(std::move(task), ran_on);
  }
  context_of_thread = before;
}

// Reports, once per wait, which ranks and how many threads have not entered the wait.
void Runtime::report_missing(double now_s) {
  const double waited_s = now_s - entered_s_;
  if (patience_s_ <= 0 || waited_s < patience_s_ || done_ >= wait_) return;
  if (reported_missing_.exchange(true)) return;
  if (inside_ < team_)
    std::fprintf(
        stderr,
        "poise: rank %u has been waiting for tasks for %.0f s, but %u of its %u threads have "
        "not entered the wait\n",
        engine_->messenger().rank, waited_s, team_ - inside_, team_.load());
  for (const std::uint32_t rank : engine_->missing())
    std::fprintf(stderr,
                 "poise: rank %u has been waiting for tasks for %.0f s, but rank %u has not "
                 "entered the wait\n",
                 engine_->messenger().rank, waited_s, rank);
}

// True if a poll is due after a task of `task_s` seconds.
bool Runtime::poll_is_due(double now_s, double task_s) const {
  return poise::poll_is_due({.since_s = now_s - last_poll_s_.load(std::memory_order_relaxed),
                             .has_messages = engine_->has_messages(),
                             .all_notify = engine_->all_messages_notify(),
                             .remaining_s = pool_->queued() * task_s,
                             .poll_cost_s = poll_cost_s_},
                            poll_s_);
}

// Runs tasks until the queue is empty, a poll is due, or `until()` holds. Returns whether any ran.
template <typename Until>
bool Runtime::run_tasks(Until until) {
  bool any = false;
  double now_s = wall_now_s();
  std::size_t max_batch = 1;
  const auto is_notified = [this] { return engine_->has_messages(); };
  for (;;) {
    const double begin_s = now_s;
    const std::size_t batch_size = pool_->run(now_s, max_batch, std::cref(is_notified));
    if (batch_size == 0) return any;
    any = true;
    const double task_s = (now_s - begin_s) / batch_size;
    if (until() || poll_is_due(now_s, task_s)) return true;
    max_batch = next_batch(task_s, pool_->queued());
  }
}

// Sleeps for `sleep_s`. A thread that may call MPI wakes earlier, when the number of announced
// messages differs from `announced`.
void Runtime::park(std::uint32_t announced, double sleep_s) {
  if (any_thread_ || is_main_thread())
    engine_->doorbells().park_until_notified(announced, sleep_s);
  else
    std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
}

// Runs tasks and polls until `until()` is true. After each round of the termination detector, an
// idle thread spins again before it sleeps: the next round or the end of the wait comes soon, and
// waking a sleeping thread would take longer.
template <typename Until, typename Poll>
void Runtime::work(Until until, Poll poll) {
  Context* const before = std::exchange(context_of_thread, &owner_);
  Backoff backoff;
  std::uint32_t announced = 0, rounds = 0;
  const auto poll_and_note = [&] {
    announced = engine_->doorbells().announced();
    poll();
    const std::uint32_t last = std::exchange(rounds, engine_->termination_rounds());
    if (rounds != last) backoff.reset();
  };
  poll_and_note();
  while (!until()) {
    const bool ran = run_tasks(until);
    if (!until()) poll_and_note();
    if (ran)
      backoff.reset();
    else if (pool_->queued() == 0)
      backoff.pause([&](double sleep_s) { park(announced, sleep_s); });
  }
  context_of_thread = before;
}

// A task is assumed to wait for something if its last yield found no task to run, and if the time
// since that yield is shorter than the yield itself was. If so, the thread counts as idle during
// the new yield, so that it steals tasks.
bool Runtime::yield() {
  Context* const before = std::exchange(context_of_thread, &owner_);
  const Task* const task = pool_->current();
  const double begin_s = wall_now_s();
  const FailedYield& last = failed_yield_of_thread;
  const bool waits = task && last.task == task && begin_s - last.end_s < last.seconds;
  if (waits) pool_->set_waiting(true);
  progress();
  if (waits) pool_->set_waiting(false);
  double now_s = wall_now_s();
  const double end_s = now_s;
  const bool ran = pool_->run(now_s, 1, [] { return false; }) > 0;
  failed_yield_of_thread = ran ? FailedYield() : FailedYield{task, end_s, end_s - begin_s};
  context_of_thread = before;
  pool_->add_waited(now_s - begin_s);
  if (ran && before != &owner_) {  // outside of waits
    const std::lock_guard lock(wait_mutex_);
    threads_waiting_s_ += now_s - end_s;
  }
  return ran;
}

void Runtime::wait_for_children(Children& children) {
  const double begin_s = wall_now_s();
  pool_->set_waiting(true);
  work([&] { return children.open.load(std::memory_order_acquire) == 0; }, [&] { progress(); });
  pool_->set_waiting(false);
  pool_->add_waited(wall_now_s() - begin_s);
  throw_if_any(pool_->take_failures_of(children));
}

std::uint64_t Runtime::enter(unsigned team) {
  std::unique_lock lock(wait_mutex_);
  // Another thread of the team might still be in the previous wait.
  wait_changed_.wait(lock, [&] { return inside_ == 0 || !all_inside_; });
  if (inside_ > 0 && team != team_)
    fail(
        "this thread calls wait({}), but other threads of its team call wait({}); all threads of "
        "a team must pass the same number of threads",
        team, team_.load());
  if (inside_++ == 0) {
    entered_s_ = wall_now_s();
    reported_missing_ = false;
    team_ = team;
    wait_.fetch_add(1);
    wait_changed_.notify_all();
  }
  if (inside_ == team) all_inside_ = true;
  return wait_.load();
}

void Runtime::leave() {
  const std::lock_guard lock(wait_mutex_);
  if (--inside_ > 0) return;
  all_inside_ = false;
  const double now_s = wall_now_s(), waited_s = now_s - entered_s_;
  if (recorder_) recorder_->waited(entered_s_, now_s);
  waiting_s_ += waited_s;
  threads_waiting_s_ += waited_s * (own_threads_ + team_);
  wait_changed_.notify_all();
}

void Runtime::wait(unsigned team) {
  if (pool_->current()) {
    if (Children* children = pool_->children()) wait_for_children(*children);
    return;
  }
  if (context_of_thread == &owner_)
    fail(
        "wait was called inside an on_finish or on_lend callback or an offload policy, where "
        "waiting is not allowed; call wait elsewhere");
  if (team == 0) fail("wait(0) was called; the number of threads that wait must be at least 1");
  if (team == 1 && !any_thread_ && !is_main_thread())
    fail(
        "MPI was started with MPI_THREAD_FUNNELED, so only the main thread can call wait; let the "
        "main thread call wait, or ask MPI_Init_thread for MPI_THREAD_SERIALIZED");
  const std::uint64_t wait = enter(team);
  work([&] { return done_.load() >= wait; }, [&] { progress_in_wait(); });
  leave();
  { const std::lock_guard lock(engine_mutex_); }  // waits until all other threads have left MPI
  throw_if_any(pool_->take_failures());
}

void Runtime::work_in_background() {
  std::unique_lock lock(wait_mutex_);
  for (;;) {
    wait_changed_.wait(lock, [&] { return closing_ || wait_ > done_; });
    if (closing_) return;
    const std::uint64_t wait = wait_;
    lock.unlock();
    work([&] { return done_.load() >= wait; }, [&] { progress_in_wait(); });
    lock.lock();
  }
}

// The program's lending policy may call counters() in a thread that already holds the engine's
// mutex. In that case counters() must not lock the mutex again.
Counters Runtime::counters() const {
  std::unique_lock lock(engine_mutex_, std::defer_lock);
  const bool is_ours = engine_locked_here && &engine_locked_here->engine_mutex_ == &engine_mutex_;
  if (!is_ours) lock.lock();
  Counters counters = pool_->counters();
  const Counters& other = engine_->messenger().counters;
  counters.requests = other.requests;
  counters.declines = other.declines;
  counters.bytes_back = other.bytes_back;
  counters.messages = other.messages;
  counters.replicas_sent = other.replicas_sent;
  counters.replicas_won = other.replicas_won;
  counters.bytes_sent = other.bytes_sent;
  counters.bytes_copied = other.bytes_copied;
  counters.bytes_in_place = other.bytes_in_place;
  counters.answers = other.answers;
  counters.lent_to_one = other.lent_to_one;
  counters.most_to = other.most_to;
  counters.transfer_s = other.transfer_s;
  const std::lock_guard wait_lock(wait_mutex_);
  counters.waiting_s = waiting_s_;
  counters.idle_s = std::max(0.0, threads_waiting_s_ - counters.working_s - counters.transfer_s);
  return counters;
}

std::string Runtime::summary() {
  return summary_of(engine_->messenger().transport.communicator(), counters());
}

}  // namespace poise::tasks
