// SPDX-License-Identifier: BSD-3-Clause
// A task as the runtime stores it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/archive/buffer.h"
#include "runtimes/tasks/counters.h"
#include "runtimes/tasks/pool/item.h"
#include "runtimes/tasks/pool/task_state.h"
#include "runtimes/tasks/pool/token.h"

#include "poise/base/check.h"
#include "poise/workload/annotations.h"

namespace poise::tasks {

class DependencyTracker;

/// The children of a task, that is, the tasks that it submitted.
struct Children {
  Children();
  ~Children();
  std::atomic<std::uint32_t> open{0};  // children that have not finished
  // Children in the queue of this rank; guarded by the pool's mutex.
  std::size_t queued = 0;
  std::unique_ptr<DependencyTracker> dependencies;  // created with the first ordered child
  // Failed children that no wait inside the parent has reported; guarded by the pool's mutex.
  std::vector<Failure> failures;
  bool parent_has_ended = false;  // guarded by the pool's mutex
};

struct DependencyNode;

/// A member that few tasks need. It is empty until it is first written, and only then allocated.
template <typename T>
class Lazy {
 public:
  explicit operator bool() const { return made_ != nullptr; }
  const T* operator->() const {
    static const T none;
    return made_ ? made_.get() : &none;
  }
  T& make() {
    if (!made_) made_ = std::make_unique<T>();
    return *made_;
  }

 private:
  std::unique_ptr<T> made_;
};

/// Members that few tasks need.
struct Extras {
  ~Extras();
  std::shared_ptr<const Annotations> annotations;  // may be null
  // A callback of the program, called on the owner rank before the task is first lent or copied to
  // another rank.
  std::function<void(std::span<Item>)> on_lend;
  /// Called on the owner rank to store the result. Not called if the task failed.
  std::function<void()> deliver;
  std::function<void()> on_finish;  // called on the owner rank
  // Holds the arguments passed by value, if they do not fit into the Task. In a borrowed task,
  // holds the data items that are neither in `message` nor read at their original address.
  std::shared_ptr<std::byte> storage;
  /// The message that contains the small items of a borrowed task.
  std::shared_ptr<std::byte> message;
  Buffer result;  // the result of a borrowed task
  // For each data item, by its index: the copy of the item in memory that the ranks of the node
  // share, or null if there is no such copy.
  std::vector<std::shared_ptr<std::byte>> copies;
  // How the task is replicated. These members are used on its owner rank only.
  std::vector<std::uint32_t> replicas;  // ranks to which a copy must still be sent
  std::shared_ptr<std::uint64_t> token;
  Ticket ticket = 0;       // 0: no other rank may start the task
  std::uint64_t name = 0;  // passed to the program's own policy
  // The task's dependencies; null unless With::ordered was set.
  std::shared_ptr<DependencyNode> ordered;
  std::string error;  // empty unless the task failed
};

/// Numbers of bytes that travel with a task: to another rank (out), and from there back (back).
struct Bytes {
  std::size_t out = 0, back = 0;
  void add(const Item& item) {
    if (!item.data) return;
    if (item.goes_out()) out += item.bytes;
    if (item.comes_back()) back += item.bytes;
  }
  double both() const { return out + back; }
};

/// A Task has only three cache lines, because each line costs a cache miss if more tasks are queued
/// than fit into the cache.
struct Task {
  ~Task();

  TaskState state() const { return state_; }
  /// Changes the state. Builds with assertions abort if `next` may not follow the present state.
  void enter(TaskState next) {
    POISE_ASSERT(may_follow(next, state_));
    state_ = next;
  }

  std::uint32_t function = 0;  // number of the task's function, the same on all ranks
  std::uint32_t owner = 0;     // the rank that submitted the task
  double cost = 1;
  std::int32_t priority = 0;
  bool pinned : 1 = false;
  bool has_parent : 1 = false;  // another task submitted this one, and may wait for it on any rank
  // Flags of a lent task, for LendingAgent::returns_to. wants_collector: the owner wants one rank
  // per node to collect its results. was_passed_on: this rank borrowed the task from a rank other
  // than the owner.
  bool wants_collector : 1 = false, was_passed_on : 1 = false;
  bool has_waited : 1 = false;  // called wait or yield: its run time includes other tasks'
  bool failed = false;
  bool replicated = false;  // other ranks have, had or will get copies of the task

 private:
  TaskState state_ = TaskState::created;

 public:
  Lazy<Extras> extras;
  Items items;
  // Holds the literal arguments if all of them fit; otherwise they are in extras->storage.
  alignas(16) std::array<std::byte, 16> small_literals;
  std::shared_ptr<Children> siblings;  // children of this task's parent; null without a parent
  Bytes queued;                        // the bytes that this task adds to the queue's totals
  // The number of the task. Tasks of this rank are numbered upwards from 1 in order of submission,
  // borrowed tasks downwards from 2^64 - 2.
  std::uint64_t number = 0;
  std::uint64_t slot = 0;  // index in the owner's table of lent tasks
  // Where the program submitted the task, for error messages of the owner rank; line 0: unknown.
  std::source_location submitted_at;
  float seconds = 0;         // the task's run time
  std::uint32_t ran_on = 0;  // the rank that ran the task

  /// Marks the task as failed. Keeps the first error only.
  void fail(std::string text);
  void forget_copies() {
    if (extras) extras.make().copies.clear();
  }
  /// Prefetches the Task object.
  void prefetch() const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    for (std::size_t at = 0; at < sizeof *this; at += 64) __builtin_prefetch(begin + at, 1);
  }
  /// Prefetches the start of the task's data.
  void prefetch_data() const {
    for (const Item& item : items) __builtin_prefetch(item.data);
  }
  Bytes bytes() const {
    Bytes bytes;
    for (const Item& item : items) bytes.add(item);
    return bytes;
  }
};
static_assert(sizeof(Task) <= 192);

}  // namespace poise::tasks
