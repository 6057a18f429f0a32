// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/task.h"

#include "runtimes/tasks/pool/dependencies.h"
#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

Children::Children() = default;
Children::~Children() = default;

// Not inline, so that the code that runs between two tasks stays small.
Extras::~Extras() = default;
Task::~Task() = default;

void Task::fail(std::string text) {
  if (std::exchange(failed, true)) return;
  constexpr std::size_t half = tuning::kMaxErrorBytes / 2;
  if (text.size() > 2 * half) text.replace(half, text.size() - 2 * half, " ... ");
  extras.make().error = std::move(text);
}

}  // namespace poise::tasks
