#include "runtimes/tasks/runtime.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/start.h"
#include "runtimes/tasks/summary.h"
#include "runtimes/tasks/transport/backoff.h"
#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/transport/locality.h"

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise::tasks {

namespace {

// Of a busy rank's time, for looks that may be in vain; of the time for which there are tasks,
// between two.
struct Looks {
  double share, every_share;
};
constexpr Looks kWhereAllRing{0.001, 0.5}, kElsewhere{0.005, 0.1};
// Of tasks, between two readings of the clock; and of those there are, as looks matter at the end.
constexpr double kRow_s = 320e-6, kRowShare = 0.1;
constexpr double kForgotten_s = 100e-6;  // until the caches hold nothing of the last look

thread_local Context* context_here = nullptr;
thread_local const Runtime* stepping_here = nullptr;  // whose exchange this thread has locked

// Of all contexts: under MPI_THREAD_SERIALIZED two of them may not be inside MPI at once either.
std::mutex& mutex_of_mpi() {
  static std::mutex mutex;
  return mutex;
}

// Where a literal may begin after others: no type is aligned to more than its size.
std::size_t after_others(std::size_t end, const Item& literal) {
  return aligned(end, std::bit_floor(std::clamp<std::size_t>(literal.bytes, 1, 16)));
}

// Takes a literal's value over, because it is the submitter's own again when that goes on. Returns
// where the literals so far end; beyond the room there is, nothing is copied.
std::size_t copy_literal(Item& literal, std::byte* memory, std::size_t end, std::size_t room) {
  const std::size_t begin = after_others(end, literal);
  end = begin + literal.bytes;
  if (end <= room) literal.data = std::memcpy(memory + begin, literal.data, literal.bytes);
  return end;
}

void keep_many_literals(Task& task, std::size_t bytes) {
  std::byte* const memory = (task.extras.make().storage = new_bytes(bytes)).get();
  std::size_t end = 0;
  for (Item& item : task.items)
    if (item.is_value()) end = copy_literal(item, memory, end, bytes);
}

// In one pass: it is a good part of what a task costs.
void keep_items(Task& task, std::span<const Item> items) {
  const std::size_t room = task.few_literals.size();
  std::size_t end = 0;
  task.queued = {};
  Item* next = task.items.resize(items.size());
  for (const Item& given : items) {
    Item& item = *next++ = Item::of(given.data, given.bytes, given.mode);
    task.queued.add(item);
    if (item.is_value()) end = copy_literal(item, task.few_literals.data(), end, room);
  }
  if (end > room) keep_many_literals(task, end);
}

// Nobody would catch what a destructor throws.
[[noreturn]] void end_job(const char* why) {
  std::fprintf(stderr, "poise: %s\n", why);
  std::abort();
}

// What others may still send to. They wait for this rank, and say so.
void leave_behind(std::unique_ptr<Exchange> exchange) {
  static auto& left = *new std::vector<std::unique_ptr<Exchange>>;
  left.push_back(std::move(exchange));
}

}  // namespace

Runtime::Runtime(Context& owner, MPI_Comm communicator, const Options& options)
    : owner_(owner),
      settings_((check_mpi(), agreed_settings(communicator, options))),
      exchange_mutex_(thread_level() == MPI_THREAD_MULTIPLE ? own_mutex_ : mutex_of_mpi()) {
  any_thread_ = may_any_thread_call();
  poll_s_ = settings_["poll_us"] * 1e-6;
  patience_s_ = settings_["patience_s"];
  const auto functions = registered_functions();
  wire_ = agree_on_functions(communicator, functions);
  std::vector<const Registered*> in_order(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f) in_order[wire_[f]] = functions[f];
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  workplace_ = std::make_unique<Workplace>(static_cast<std::uint32_t>(rank), std::move(in_order));
  const Neighbours neighbours = neighbours_of(communicator);
  exchange_ =
      std::make_unique<Exchange>(communicator, neighbours, settings_, options.policy, *workplace_);
  trace_path_ = next_trace_path(communicator);
  if (!trace_path_.empty()) events_ = std::make_unique<Events>(communicator, neighbours.nodes);
  workplace_->tell(events_.get());
  start_threads(options.threads - 1, communicator);
}

// On all ranks or on none.
void Runtime::start_threads(unsigned own, MPI_Comm communicator) {
  std::string error;
  try {
    for (own_threads_ = 0; own_threads_ < own; ++own_threads_)
      threads_.emplace_back([this] { work_in_background(); });
    if (wants_helper(settings_) && exchange_->num_ranks() > 1)
      threads_.emplace_back([this] { help_in_background(); });
  } catch (const std::system_error& refused) {
    error = fmt::format("the system lets a tasks::Context have {} more threads, not {}: {}",
                        threads_.size(), own, refused.what());
  }
  try {
    agree_on_success(communicator, error);
  } catch (const Error&) {
    stop_threads();
    throw;
  }
}

void Runtime::stop_threads() {
  {
    const std::lock_guard lock(wait_mutex_);
    closing_ = true;
  }
  wait_changed_.notify_all();
  exchange_->called().wake();
  for (std::thread& thread : threads_) thread.join();
}

Runtime::~Runtime() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) end_job("a tasks::Context must be destroyed before MPI_Finalize");
  // An exception ends it where the other ranks may not end theirs.
  const bool is_left = std::uncaught_exceptions() > exceptions_;
  try {
    if (!is_left) wait(1);
  } catch (const TaskFailed&) {  // nobody is left to tell
  } catch (const Error& error) {
    end_job(error.what());
  }
  stop_threads();
  if (is_left) {
    leave_behind(std::move(exchange_));
    return;
  }
  exchange_->drain();
  if (events_) write_trace();
  if (settings_["summary"] > 0) {
    const std::string text = summary();
    std::fputs(text.c_str(), stderr);
  }
}

/// A job goes on without its trace.
void Runtime::write_trace() {
  const std::vector<RankEvents> ranks = events_->gathered(exchange_->communicator());
  if (exchange_->rank() != 0) return;
  const auto is_cut = [](const RankEvents& rank) { return rank.ran.size() == Events::kMost; };
  if (std::any_of(ranks.begin(), ranks.end(), is_cut))
    std::fprintf(stderr, "poise: the trace %s has the first %zu tasks of each rank, no more\n",
                 trace_path_.c_str(), Events::kMost);
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < wire_.size(); ++f) names.push_back(workplace_->function(f).name);
  try {
    write_file(trace_path_, trace_json(ranks, names));
  } catch (const Error& error) {
    std::fprintf(stderr, "poise: there is no trace of tasks: %s\n", error.what());
  }
}

Context* Runtime::current_context() { return context_here; }

Self Runtime::self() const {
  const Task* task = workplace_->current();
  if (!task) fail("tasks::Context::self() is for tasks of this context");
  return self_of(*task);
}

void Runtime::describe(Task& task, With&& with) const {
  if (!(with.cost >= 0) || std::isinf(with.cost))
    fail("a task's cost is {}; it can be any number from 0", with.cost);
  task.cost = with.cost;
  task.priority = with.priority;
  task.pinned = with.pinned;
  if (with.name != 0) task.extras.make().name = with.name;
  if (!with.annotations.empty())
    task.extras.make().annotations =
        std::make_shared<const Annotations>(std::move(with.annotations));
  for (const std::uint32_t rank : with.replicas) {
    if (rank >= exchange_->num_ranks())
      fail("a task cannot be replicated on rank {}; there are {}", rank, exchange_->num_ranks());
    if (rank != exchange_->rank() && !with.pinned) task.extras.make().replicas.push_back(rank);
  }
  if (with.on_finish) task.extras.make().on_finish = std::move(with.on_finish);
  if (with.on_lend) task.extras.make().on_lend = std::move(with.on_lend);
}

[[noreturn]] void Runtime::refuse(FunctionId function) {
  const auto functions = registered_functions();
  if (function >= functions.size())
    fail("there is no function {} of tasks", static_cast<std::int32_t>(function));
  fail("function \"{}\" was registered after the context was created; register it before",
       functions[function]->name);
}

void Runtime::submit(With* with, FunctionId function, std::span<const Item> items,
                     std::function<void()>&& deliver) {
  if (function >= wire_.size()) refuse(function);
  auto task = Workplace::blank();
  task->function = wire_[function];
  if (with) describe(*task, std::move(*with));
  if (deliver) task->extras.make().deliver = std::move(deliver);
  keep_items(*task, items);
  workplace_->submit(std::move(task), with && with->ordered);
}

void Runtime::progress() {
  if (!any_thread_ && !is_main_thread()) return;
  step_and_unlock(std::unique_lock(exchange_mutex_, std::try_to_lock));
}

// Once a wait has ended MPI belongs to the program again: under MPI_THREAD_SERIALIZED no thread
// that is late to notice may call it then.
void Runtime::progress_in_wait() {
  if (!any_thread_ && !is_main_thread()) return;
  std::unique_lock lock(exchange_mutex_, std::try_to_lock);
  if (done_.load() < wait_.load()) step_and_unlock(std::move(lock));
}

void Runtime::step_and_unlock(std::unique_lock<std::mutex> lock) {
  if (!lock) return;
  const double now = clock_s();
  const bool was_called = exchange_->has_mail();
  const bool is_cold = now - last_look_s_.load(std::memory_order_relaxed) > kForgotten_s;
  stepping_here = this;
  exchange_->step(now, wait_.load(), all_inside_.load(), own_threads_ + team_.load());
  stepping_here = nullptr;
  done_.store(exchange_->done_wait());
  auto finished = exchange_->take_finished();
  last_look_s_.store(now, std::memory_order_relaxed);
  if (!was_called && is_cold && workplace_->queued() > 0)
    look_takes_s_.store(moved_average(look_takes_s_, clock_s() - now, 0.125));
  report_missing(now);
  lock.unlock();
  Context* const before = std::exchange(context_here, &owner_);
  for (auto& task : finished) {
    const std::uint32_t ran_on = task->ran_on;
    workplace_->finish(std::move(task), ran_on);
  }
  context_here = before;
}

// Once in a wait.
void Runtime::report_missing(double now_s) {
  const double waited_s = now_s - entered_s_;
  if (patience_s_ <= 0 || waited_s < patience_s_ || done_ >= wait_) return;
  if (said_missing_.exchange(true)) return;
  if (inside_ < team_)
    std::fprintf(stderr,
                 "poise: rank %u waits for tasks since %.0f s, but %u of its %u threads have not "
                 "entered the wait\n",
                 exchange_->rank(), waited_s, team_ - inside_, team_.load());
  for (const std::uint32_t rank : exchange_->missing())
    std::fprintf(
        stderr,
        "poise: rank %u waits for tasks since %.0f s, but rank %u has not entered the wait\n",
        exchange_->rank(), waited_s, rank);
}

// After a task of this length. What nobody of this node has called for is looked for now and then,
// and more often the less there is left to do.
bool Runtime::look_is_due(double now_s, double task_s) const {
  const double since_s = now_s - last_look_s_.load(std::memory_order_relaxed);
  if (since_s < poll_s_) return false;
  if (exchange_->has_mail()) return true;
  const Looks& looks = exchange_->hears_all() ? kWhereAllRing : kElsewhere;
  const double left_s = static_cast<double>(workplace_->queued()) * task_s;
  return since_s >= std::min(looks.every_share * left_s, look_takes_s_ / looks.share);
}

// Runs tasks until there is none, or a look is due, or `until` says so. Returns whether any ran.
template <typename Until>
bool Runtime::run_tasks(Until until) {
  bool any = false;
  double now_s = clock_s();
  std::size_t most_in_row = 1;
  const auto called = [this] { return exchange_->has_mail(); };
  for (;;) {
    const double begin_s = now_s;
    const std::size_t in_row = workplace_->run(now_s, most_in_row, std::cref(called));
    if (in_row == 0) return any;
    any = true;
    const double task_s = (now_s - begin_s) / static_cast<double>(in_row);
    if (until() || look_is_due(now_s, task_s)) return true;
    const double few = kRowShare * static_cast<double>(workplace_->queued());
    most_in_row = static_cast<std::size_t>(
        std::clamp<double>(std::min(kRow_s / task_s, few), 1, Workplace::kMostInRow));
  }
}

// Sleeps for so long, or until the bell has rung since so much was heard; who may not look at
// messages leaves that to those who may.
void Runtime::nap(std::uint32_t heard, double nap_s) {
  if (any_thread_ || is_main_thread())
    exchange_->sleep_till_more_is_heard(heard, nap_s);
  else
    std::this_thread::sleep_for(std::chrono::duration<double>(nap_s));
}

// After a wave the next comes soon, or the end: whoever sleeps would be woken for each.
template <typename Until, typename Look>
void Runtime::work(Until until, Look look) {
  Context* const before = std::exchange(context_here, &owner_);
  Backoff backoff;
  std::uint32_t heard = 0, waves = 0;
  const auto listen_and_look = [&] {
    heard = exchange_->heard();
    look();
    const std::uint32_t last = std::exchange(waves, exchange_->waves());
    if (waves != last) backoff.reset();
  };
  listen_and_look();
  while (!until()) {
    const bool ran = run_tasks(until);
    if (!until()) listen_and_look();
    if (ran)
      backoff.reset();
    else if (workplace_->queued() == 0)
      backoff.pause([&](double nap_s) { nap(heard, nap_s); });
  }
  context_here = before;
}

bool Runtime::yield() {
  Context* const before = std::exchange(context_here, &owner_);
  progress();
  double now_s = clock_s();
  const bool ran = workplace_->run(now_s, 1, [] { return false; }) > 0;
  context_here = before;
  return ran;
}

void Runtime::wait_for_children(Children& children) {
  work([&] { return children.open.load(std::memory_order_acquire) == 0; }, [&] { progress(); });
}

std::uint64_t Runtime::enter(unsigned team) {
  std::unique_lock lock(wait_mutex_);
  // The slowest thread of the team may still have to leave the wait before.
  wait_changed_.wait(lock, [&] { return inside_ == 0 || !all_inside_; });
  if (inside_ > 0 && team != team_)
    fail("a thread waits for tasks as one of {}, but others as {}", team, team_.load());
  if (inside_++ == 0) {
    entered_s_ = clock_s();
    said_missing_ = false;
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
  const double waited_s = clock_s() - entered_s_;
  waiting_s_ += waited_s;
  threads_waiting_s_ += waited_s * (own_threads_ + team_);
  wait_changed_.notify_all();
}

void Runtime::wait(unsigned team) {
  if (workplace_->current()) {
    if (Children* children = workplace_->children()) wait_for_children(*children);
    return;
  }
  if (context_here == &owner_)
    fail("only tasks can wait for tasks, not what is called when they end, leave or are chosen");
  if (team == 0) fail("no thread cannot wait for tasks; say how many of the program's do");
  if (team == 1 && !any_thread_ && !is_main_thread())
    fail("MPI was started with MPI_THREAD_FUNNELED, so only the main thread can wait for tasks");
  const std::uint64_t wait = enter(team);
  const double begin_s = clock_s();
  work([&] { return done_.load() >= wait; }, [&] { progress_in_wait(); });
  if (events_) events_->waited(begin_s, clock_s());
  leave();
  { const std::lock_guard lock(exchange_mutex_); }  // whoever is still inside MPI comes out
  const auto failures = workplace_->take_failures();
  if (!failures.empty()) throw TaskFailed(failures.front(), failures.size());
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

// A policy may ask, too, from inside the exchange.
Counters Runtime::counters() const {
  std::unique_lock lock(exchange_mutex_, std::defer_lock);
  const bool is_ours = stepping_here && &stepping_here->exchange_mutex_ == &exchange_mutex_;
  if (!is_ours) lock.lock();
  Counters counters = workplace_->counters();
  const Counters& other = exchange_->counters();
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

std::string Runtime::summary() { return summary_of(exchange_->communicator(), counters()); }

}  // namespace poise::tasks
