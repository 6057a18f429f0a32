// What a program may decide itself: whom to lend which tasks, and which to copy ahead of time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtimes/tasks/pool/task.h"

#include "poise/online/lending.h"
#include "poise/workload/annotations.h"

namespace poise::tasks {

/// The first tasks of a queue, to be copied ahead of time to each of these ranks.
struct Replication {
  std::uint32_t tasks = 0;
  std::vector<std::uint32_t> ranks = {};
};

/// What a task may know of itself.
struct Self {
  std::uint32_t home = 0;   // the rank that submitted it
  bool replicated = false;  // other ranks have copies of it, or were to get some
  const Annotations& annotations;
};
Self self_of(const Task& task);

/// What a program decides itself instead of the setting `policy`. Called by one thread at a time,
/// on the rank that lends. None of it may submit or wait; what it throws is said once, and the job
/// goes on.
struct Policy {
  LendingPolicy decide = {};
  // The load that other ranks' policies see of this rank; else the tasks it may lend.
  std::function<double(const LendingView&)> load = {};
  // Asked once in a wait on each rank that has tasks.
  std::function<std::vector<Replication>(const LendingView&)> replicate = {};
  // Told of each copy of a task, the one at home included, that another one was started instead of.
  // Items whose data this copy had in the memory of its home come without.
  std::function<void(std::span<const Item>, const Self&)> cancelled = {};
  bool sees_queue = false;  // costs time with every decision, in proportion to the queue
};

}  // namespace poise::tasks
