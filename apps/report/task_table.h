// SPDX-License-Identifier: BSD-3-Clause
// The table of a trace's tasks, in the order of the lines of a placement file.
#pragma once

#include <string>

#include "poise/trace/trace.h"

namespace poise::apps {

/// Returns the name of a task in the system that recorded the trace: "id 7" or "seq 3 home 1",
/// followed by its collection and index if it has them. A place that itself sends or receives
/// messages is called "rank 2", and a task without a name "task 5".
std::string name_text(const Phase& phase, TaskId task);

/// Returns one row per phase and task with the columns phase, task, name, load_s, place, bytes and
/// movable. Unknown places and sizes are empty cells.
std::string csv_of_tasks(const Trace& trace);
/// Returns the table of tasks as JSON: {"phases": [{"phase", "tasks": [...]}]}. Unknown values are
/// null.
std::string json_of_tasks(const Trace& trace);

}  // namespace poise::apps
