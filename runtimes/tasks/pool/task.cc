// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/task.h"

#include "runtimes/tasks/pool/dependencies.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// The destructor is not inline, which keeps the code between two tasks small.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
