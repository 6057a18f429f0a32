#include "runtimes/tasks/task.h"

namespace poise::tasks {

// Not where they are called: the little code that runs between two tasks stays together.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
