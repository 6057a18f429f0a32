#include "runtimes/tasks/pool/task.h"

#include "runtimes/tasks/pool/dependencies.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// Out of line, to keep the code that runs between two tasks small.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
