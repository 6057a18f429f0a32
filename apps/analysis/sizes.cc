// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/sizes.h"

#include <algorithm>

namespace poise::apps {

bool has_sizes(const Workload& workload) {
  return std::any_of(workload.tasks.begin(), workload.tasks.end(),
                     [](const Task& task) { return task.bytes > 0; });
}

}  // namespace poise::apps
