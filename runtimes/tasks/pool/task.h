// A task as the runtime keeps it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/archive/buffer.h"
#include "runtimes/tasks/pool/item.h"
#include "runtimes/tasks/pool/token.h"

#include "poise/workload/annotations.h"

namespace poise::tasks {

class DependencyTracker;

/// The tasks that one task submitted: how many are not finished, how many of these are in the queue
/// of this rank, and the order among them.
struct Children {
  Children();
  ~Children();
  std::atomic<std::uint32_t> open{0};
  std::size_t queued = 0;                    // under the lock of the queue
  std::unique_ptr<DependencyTracker> order;  // made for the first that has one
};

struct DependencyNode;

/// What few have: made when it is first written to, empty until then.
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

/// Of a task, what few have.
struct Extras {
  ~Extras();
  std::shared_ptr<const Annotations> annotations;  // null: none
  std::function<void(std::span<Item>)> on_lend;    // at home only, before it first leaves
  std::function<void()> deliver;       // at home only: takes the result, unless the task failed
  std::function<void()> on_finish;     // at home only
  std::shared_ptr<std::byte> storage;  // of literals; of all items when borrowed
  std::shared_ptr<std::byte> message;  // of a borrowed task: where its small items are
  Buffer result;                       // of a borrowed task that has one
  // Of items, by position, where others of this node see them.
  std::vector<std::shared_ptr<std::byte>> copies;
  // At home, of a task that is to be copied to other ranks ahead of time, or was.
  std::vector<std::uint32_t> replicas;  // the ranks that have no copy yet
  std::shared_ptr<std::uint64_t> token;
  Ticket ticket = 0;                        // 0: nobody else may start it
  std::uint64_t name = 0;                   // for the program's own policy
  std::shared_ptr<DependencyNode> ordered;  // its place in an order, if it has one
  std::string error;                        // of a failed task
};

/// Of data that goes to another rank with a task, and of what comes home.
struct Bytes {
  std::size_t out = 0, back = 0;
  void add(const Item& item) {
    if (!item.data) return;
    if (item.goes_out()) out += item.bytes;
    if (item.comes_back()) back += item.bytes;
  }
  double both() const { return static_cast<double>(out + back); }
};

/// Three lines of memory: of tasks that wait in great numbers each costs its latency.
struct Task {
  ~Task();

  std::uint32_t function = 0;  // position in the order all ranks agree on
  std::uint32_t home = 0;      // the rank that submitted it
  double cost = 1;
  std::int32_t priority = 0;
  bool pinned = false;
  bool failed = false;
  bool replicated = false;  // others have, or are to have, copies of it; or did
  Lazy<Extras> extras;
  Items items;
  alignas(16) std::array<std::byte, 16> small_literals;  // if they fit; else in `storage`
  std::shared_ptr<Children> siblings;                    // those this task is one of
  Bytes queued;                                          // as its queue counts them
  std::uint64_t number = 0;  // at home, from 1 in order of submission; elsewhere counted down
  std::uint64_t slot = 0;    // of its record at home, once it was lent
  float seconds = 0;         // that it ran
  std::uint32_t ran_on = 0;  // the rank

  /// The first failure is the one that is told.
  void fail(std::string text) {
    if (!std::exchange(failed, true)) extras.make().error = std::move(text);
  }
  void forget_copies() {
    if (extras) extras.make().copies.clear();
  }
  /// Has what is in memory come to the caches, while something else is done.
  void prefetch() const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    for (std::size_t at = 0; at < sizeof *this; at += 64) __builtin_prefetch(begin + at, 1);
  }
  /// The same of where its data begin; for a task that has come.
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
