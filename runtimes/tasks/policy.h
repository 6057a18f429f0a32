// SPDX-License-Identifier: BSD-3-Clause
// The policy of a program: which tasks to lend to whom, and which tasks to replicate.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtimes/tasks/pool/task.h"

#include "poise/online/lending.h"
#include "poise/workload/annotations.h"

namespace poise::tasks {

/// Asks to copy the first `tasks` tasks of the queue ahead of time to each rank of `ranks`.
struct Replication {
  std::uint32_t tasks = 0;
  std::vector<std::uint32_t> ranks = {};
};

/// Facts about a task that the task itself can query.
struct Self {
  std::uint32_t home = 0;   // the rank that submitted it
  bool replicated = false;  // other ranks have copies of it, or should have got some
  const Annotations& annotations;
};
Self self_of(const Task& task);

/// Decisions that a program makes instead of the setting `policy`. Called by one thread at a time,
/// on the rank that lends. These functions must not submit or wait. If one throws, the first
/// exception is printed and the job continues.
struct Policy {
  LendingPolicy decide = {};
  // The load of this rank that the policies of other ranks see. By default, it is the number of
  // tasks that this rank may lend.
  std::function<double(const LendingView&)> load = {};
  // Called once per wait on each rank that has tasks.
  std::function<std::vector<Replication>(const LendingView&)> replicate = {};
  // Of the original of a task and its copies, only the one that starts first runs. This function is
  // called for each of the others. Items whose data lie in the owner's memory are null.
  std::function<void(std::span<const Item>, const Self&)> cancelled = {};
  // If true, LendingView::queue is filled, which takes time proportional to its length.
  bool sees_queue = false;
};

}  // namespace poise::tasks
