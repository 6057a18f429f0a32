// SPDX-License-Identifier: BSD-3-Clause
// The table of a trace's tasks, in the order of the lines of a placement file.
#pragma once

#include <string>

#include "poise/trace/trace.h"

namespace poise::apps {

/// What the recording system calls the task: "id 7", "seq 3 home 1", with its collection and index;
/// "rank 2" for the end of messages that is a place itself; "task 5" without names.
std::string name_text(const Phase& phase, TaskId task);

/// A row per phase and task: phase, task, name, load_s, place, bytes, movable. Unknown places and
/// sizes are empty cells.
std::string csv_of_tasks(const Trace& trace);
/// The same as JSON: {"phases": [{"phase", "tasks": [...]}]}; unknown values are null.
std::string json_of_tasks(const Trace& trace);

}  // namespace poise::apps
