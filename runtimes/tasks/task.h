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
#include <vector>

#include "runtimes/archive/buffer.h"
#include "runtimes/tasks/item.h"
#include "runtimes/tasks/token.h"

#include "poise/workload/annotations.h"

namespace poise::tasks {

/// The tasks that one task submitted and that are not finished.
struct Children {
  std::atomic<std::uint32_t> open{0};
};

struct Ordered;

/// What few have: made when it is first written to, empty until then.
template <typename T>
class IfAny {
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
  std::shared_ptr<Ordered> ordered;  // its place in an order, if it has one
  std::string error;                 // of a failed task
};

/// Short, and what a queue and a loan look at comes first: of tasks that wait in great numbers each
/// line of memory costs its latency.
struct Task {
  static constexpr std::size_t kFewBytes = 32;

  std::uint32_t function = 0;  // position in the order all ranks agree on
  std::uint32_t home = 0;      // the rank that submitted it
  double cost = 1;
  std::int32_t priority = 0;
  bool pinned = false;
  bool failed = false;
  bool replicated = false;  // others have, or are to have, copies of it; or did
  Ticket ticket =
      0;  // of a task that others have, or are to have, copies of; 0: nobody else may start it
  std::uint64_t slot = 0;                         // of its record at home, once it was lent
  std::uint64_t queued_out = 0, queued_back = 0;  // bytes that the queue has counted
  IfAny<Extras> extras;
  Items items;
  alignas(16) std::array<std::byte, kFewBytes> few_literals;  // if they fit; else in `storage`
  std::shared_ptr<Children> siblings;                         // those this task is one of
  std::shared_ptr<Children> children;
  std::uint64_t name = 0;    // for the program's own policy
  std::uint64_t number = 0;  // at home, from 1 in order of submission; elsewhere counted down
  double seconds = 0;        // that it ran
  std::uint32_t ran_on = 0;  // the rank

  void forget_copies() {
    if (extras) extras.make().copies.clear();
  }
  std::size_t bytes_out() const;   // to another rank
  std::size_t bytes_back() const;  // and home
};

inline std::size_t Task::bytes_out() const {
  std::size_t bytes = 0;
  for (const Item& item : items) bytes += item.goes_out() && item.data ? item.bytes : 0;
  return bytes;
}

inline std::size_t Task::bytes_back() const {
  std::size_t bytes = 0;
  for (const Item& item : items) bytes += item.comes_back() && item.data ? item.bytes : 0;
  return bytes;
}

}  // namespace poise::tasks
