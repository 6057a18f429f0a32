// Identifies the same object among the tasks of different phases.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "poise/trace/trace.h"

namespace poise {

/// The identity of a named task across phases: the kind of its name, id and collection, and its
/// home if ids are counted per home (otherwise 0).
using TaskIdentity = std::tuple<TaskName::Kind, std::uint64_t, std::int64_t, PlaceId>;

/// The task must have a name.
TaskIdentity identity_of(const Phase& phase, TaskId task);

/// An object: a task in all phases of a trace, numbered from 0 by first appearance.
using ObjectId = std::uint32_t;

/// The object of each task in each phase. Tasks are the same object if their identities are equal
/// or, if any phase lacks names, if their numbers are equal. O(tasks log tasks) per phase whose
/// names differ from those of the phase before.
struct Objects {
  std::vector<std::vector<ObjectId>> of_task;  // per phase and task
  ObjectId count = 0;
};

/// Throws Error naming the phase if two tasks of it have the same name.
Objects objects_of(const Trace& trace);

}  // namespace poise
