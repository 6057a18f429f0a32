// SPDX-License-Identifier: BSD-3-Clause
// The table of a trace's tasks, in the order of the lines of a placement file.
#pragma once

#include <string>

#include "poise/trace/trace.h"

namespace poise::apps {

/// The name of a task in the system that recorded it: "id 7", or "seq 3 home 1", with its
/// collection and index; "rank 2" if a place itself sends or receives; "task 5" for tasks without
/// names.
std::string name_text(const Phase& phase, TaskId task);

/// Returns one row per phase and task with the columns phase, task, name, load_s, place, bytes and
/// movable. Unknown places and sizes are empty cells.
std::string csv_of_tasks(const Trace& trace);
/// Returns the same table as JSON: {"phases": [{"phase", "tasks": [...]}]}. Unknown values are
/// null.
std::string json_of_tasks(const Trace& trace);

}  // namespace poise::apps
