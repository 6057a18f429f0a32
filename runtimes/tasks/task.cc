#include "runtimes/tasks/task.h"

#include "runtimes/tasks/order.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// Not where they are called: the little code that runs between two tasks stays together.
Extras::~Extras() = default;
Task::~Task() = default;

}  // namespace poise::tasks
