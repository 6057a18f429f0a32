// SPDX-License-Identifier: BSD-3-Clause
// Finds out which tasks of different phases are the same object.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "poise/trace/trace.h"

namespace poise {

/// The identity of a named task across phases: the kind of its name, its id, its collection, and
/// its home place if ids are unique only per home place (otherwise 0).
using TaskIdentity = std::tuple<TaskName::Kind, std::uint64_t, std::int64_t, PlaceId>;

/// Returns the identity of a task, which must have a name.
TaskIdentity identity_of(const Phase& phase, TaskId task);

/// The ID of an object, that is, of a task across all phases of a trace. Objects are numbered from
/// 0 by first appearance.
using ObjectId = std::uint32_t;

/// The object of each task in each phase. Tasks of different phases are the same object if they
/// have the same identity. If any phase of the trace has no names, tasks have no identities; then
/// tasks with the same task ID are the same object. O(tasks log tasks) per phase whose names differ
/// from those of the previous phase.
struct Objects {
  /// of_task[phase][task] is the ID of the task's object.
  std::vector<std::vector<ObjectId>> of_task;
  ObjectId count = 0;
};

/// Finds the objects of a trace. Throws Error naming the phase if two of its tasks have the same
/// name.
Objects objects_of(const Trace& trace);

}  // namespace poise
