#include "runtimes/tasks/pool/task.h"

#include "runtimes/tasks/pool/dependencies.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// Not where they are called: the little code that runs between two tasks stays together.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
