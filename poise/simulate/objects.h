// Which task of one phase is which task of another.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/trace/trace.h"

namespace poise {

/// A task through all phases of a trace, numbered densely by first appearance.
using ObjectId = std::uint32_t;

/// The objects of every phase's tasks. Tasks are the same object when their names' kind, id and
/// collection agree (and their homes, where the id counts from each home anew); if any phase has no
/// names, when their numbers agree. O(tasks log tasks) per phase whose names differ from the one
/// before.
struct Objects {
  std::vector<std::vector<ObjectId>> of_task;  // per phase, per task
  ObjectId count = 0;
};

/// Throws Error naming the phase in which two tasks have one name.
Objects objects_of(const Trace& trace);

}  // namespace poise
