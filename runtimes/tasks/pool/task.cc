// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/task.h"

#include "runtimes/tasks/pool/dependencies.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// Not inline, so that the code that runs between two tasks stays small.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
