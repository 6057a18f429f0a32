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

/// Requests that the first `tasks` tasks of the queue be copied to each rank in `ranks`. Each of
/// these tasks still runs only once.
struct Replication {
  std::uint32_t tasks = 0;
  std::vector<std::uint32_t> ranks = {};
};

/// Facts about a task that the task itself can query.
struct Self {
  std::uint32_t home = 0;   // the rank that submitted the task
  bool replicated = false;  // other ranks have copies of the task, or copies were sent to them
  const Annotations& annotations;
};
Self self_of(const Task& task);

/// The program's own policy, used instead of the one that the setting `policy` names. One thread at
/// a time calls its functions, on the rank that lends. They must not submit tasks or wait. If they
/// throw, the job continues, and each rank prints only the first exception. `decide`, `load` and
/// `replicate` get the same view, except that in `load`, load_of_rank has the previous load of this
/// rank.
struct Policy {
  LendingPolicy decide = {};
  // The load of this rank that the policies of other ranks see. By default, it is the number of
  // tasks that this rank may lend.
  std::function<double(const LendingView&)> load = {};
  // Chooses which tasks to replicate. Called once per wait on each rank that has tasks, often
  // before the rank knows that other ranks are in the same wait.
  std::function<std::vector<Replication>(const LendingView&)> replicate = {};
  // A replicated task consists of an original and copies, of which only the first to start runs.
  // For each of the others, this function is called on the rank that holds it. In a copy, an item
  // that lies in the owner's memory has a null address.
  std::function<void(std::span<const Item>, const Self&)> cancelled = {};
  // If true, LendingView::queue is filled, which takes time proportional to its length.
  bool sees_queue = false;
};

}  // namespace poise::tasks
