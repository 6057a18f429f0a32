// A task as the runtime stores it.
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

/// The children of a task, which are the tasks that it submitted.
struct Children {
  Children();
  ~Children();
  std::atomic<std::uint32_t> open{0};  // not finished
  std::size_t queued = 0;              // in the queue of this rank; guarded by the pool's mutex
  std::unique_ptr<DependencyTracker> dependencies;  // made for the first ordered child
};

struct DependencyNode;

/// A member that few tasks need: allocated when it is first written to, empty until then.
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

/// The members that few tasks need.
struct Extras {
  ~Extras();
  std::shared_ptr<const Annotations> annotations;  // null: none
  std::function<void(std::span<Item>)> on_lend;    // on the owner rank, before it is first lent
  std::function<void()> deliver;    // on the owner rank: takes the result, unless the task failed
  std::function<void()> on_finish;  // on the owner rank
  std::shared_ptr<std::byte> storage;  // holds literals; of a borrowed task all items
  std::shared_ptr<std::byte> message;  // of a borrowed task: the message that holds its small items
  Buffer result;                       // of a borrowed task that has one
  // Copies of items, by index, in memory that ranks of this node share; null: none.
  std::vector<std::shared_ptr<std::byte>> copies;
  // On the owner rank, of a replicated task.
  std::vector<std::uint32_t> replicas;  // the ranks that still have to get a copy
  std::shared_ptr<std::uint64_t> token;
  Ticket ticket = 0;                        // 0: no other rank may start it
  std::uint64_t name = 0;                   // for the program's own policy
  std::shared_ptr<DependencyNode> ordered;  // of an ordered task
  std::string error;                        // of a failed task
};

/// Bytes that go to another rank with a task, and bytes that come back.
struct Bytes {
  std::size_t out = 0, back = 0;
  void add(const Item& item) {
    if (!item.data) return;
    if (item.goes_out()) out += item.bytes;
    if (item.comes_back()) back += item.bytes;
  }
  double both() const { return static_cast<double>(out + back); }
};

/// Three cache lines; with many queued tasks every line is a cache miss.
struct Task {
  ~Task();

  std::uint32_t function = 0;  // its number, the same on all ranks
  std::uint32_t owner = 0;     // the rank that submitted it
  double cost = 1;
  std::int32_t priority = 0;
  bool pinned = false;
  bool failed = false;
  bool replicated = false;  // other ranks have copies of it, had some, or are to get some
  Lazy<Extras> extras;
  Items items;
  alignas(16) std::array<std::byte, 16> small_literals;  // literals, if they fit; else they are in
                                                         // extras->storage
  std::shared_ptr<Children> siblings;  // the children of its parent; null: no parent
  Bytes queued;                        // bytes that its queue counts
  std::uint64_t number =
      0;                   // an own task counts from 1 in order of submission; a borrowed one down
  std::uint64_t slot = 0;  // index in the owner's table of lent tasks
  float seconds = 0;       // how long it ran
  std::uint32_t ran_on = 0;  // the rank that ran it

  /// Keeps the first error.
  void fail(std::string text) {
    if (!std::exchange(failed, true)) extras.make().error = std::move(text);
  }
  void forget_copies() {
    if (extras) extras.make().copies.clear();
  }
  /// Prefetches the task itself.
  void prefetch() const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    for (std::size_t at = 0; at < sizeof *this; at += 64) __builtin_prefetch(begin + at, 1);
  }
  /// Prefetches the beginning of its data.
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
