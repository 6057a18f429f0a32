// Which task of one phase is which task of another.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "poise/trace/trace.h"

namespace poise {

/// What makes a named task the same one in two phases: its name's kind, id and collection, and its
/// home where the id counts from each home anew (else 0).
using TaskIdentity = std::tuple<TaskName::Kind, std::uint64_t, std::int64_t, PlaceId>;

/// The task must have a name.
TaskIdentity identity_of(const Phase& phase, TaskId task);

/// A task through all phases of a trace, numbered densely by first appearance.
using ObjectId = std::uint32_t;

/// The objects of every phase's tasks. Tasks are the same object when their identities agree; if
/// any phase has no names, when their numbers agree. O(tasks log tasks) per phase whose names
/// differ from the one before.
struct Objects {
  std::vector<std::vector<ObjectId>> of_task;  // per phase, per task
  ObjectId count = 0;
};

/// Throws Error naming the phase in which two tasks have one name.
Objects objects_of(const Trace& trace);

}  // namespace poise
