// SPDX-License-Identifier: BSD-3-Clause
// The messages of a phase as a graph. For each task it lists what this task exchanges with every
// other task.
#pragma once

#include <cstddef>
#include <cstdint>

#include "poise/base/large_array.h"
#include "poise/workload/workload.h"

namespace poise {

/// The messages between a task and another one, in both directions.
struct Arc {
  TaskId task = 0;         // the other task
  double in = 0, out = 0;  // number of messages received from the other task, and sent to it
  double in_bytes = 0, out_bytes = 0;  // bytes received from the other task, and sent to it
};

/// An arc with 32-bit sums, in half the memory. Used if no sum of any arc reaches 2^32.
struct SmallArc {
  TaskId task = 0;
  std::uint32_t in = 0, out = 0, in_bytes = 0, out_bytes = 0;
};

struct MessagesOfTasks;

/// One list of arcs per task. Takes O(tasks + messages) time and memory; messages of a task to
/// itself are left out.
class Arcs {
 public:
  explicit Arcs(const Workload& workload);

  /// The arcs of one task. Arcs are stored as SmallArc where possible, so reading one makes a copy.
  class Row {
   public:
    class Iterator {
     public:
      Iterator(const Arcs& arcs, std::size_t index)
          : small_(arcs.small_.data()),
            large_(arcs.large_.empty() ? nullptr : arcs.large_.data()),
            index_(index) {}
      Arc operator*() const {
        if (large_ != nullptr) return large_[index_];
        const SmallArc& arc = small_[index_];
        return {arc.task, 1.0 * arc.in, 1.0 * arc.out, 1.0 * arc.in_bytes, 1.0 * arc.out_bytes};
      }
      Iterator& operator++() {
        ++index_;
        return *this;
      }
      bool operator==(const Iterator& other) const { return index_ == other.index_; }

     private:
      const SmallArc* small_;
      const Arc* large_;  // null if all arcs are stored as SmallArc
      std::size_t index_;
    };

    Row(const Arcs& arcs, std::size_t first, std::size_t last)
        : arcs_(arcs), first_(first), last_(last) {}
    Iterator begin() const { return {arcs_, first_}; }
    Iterator end() const { return {arcs_, last_}; }
    Arc operator[](std::size_t index) const { return *Iterator(arcs_, first_ + index); }
    std::size_t size() const { return last_ - first_; }
    bool empty() const { return first_ == last_; }

   private:
    const Arcs& arcs_;
    std::size_t first_, last_;
  };

  /// Returns one arc for each task that exchanges messages with t, in ascending order of Arc::task.
  Row of(TaskId t) const { return {*this, first_[t], first_[t + 1]}; }
  /// Number of communication partners (arcs), summed over all tasks.
  std::size_t count() const { return first_.back(); }

 private:
  template <typename Stored>
  bool fill(const MessagesOfTasks& messages, const Workload& workload, LargeArray<Stored>& arcs);

  LargeArray<std::size_t> first_;  // index of each task's first arc; last: number of all arcs
  LargeArray<SmallArc> small_;
  LargeArray<Arc> large_;  // used instead of small_ if a sum needs more than 32 bits
};

}  // namespace poise
