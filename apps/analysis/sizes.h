// SPDX-License-Identifier: BSD-3-Clause
// Tells whether the sizes of tasks, and therefore the cost of migrations, are known. A workload has
// no flag for this: if the size of every task is 0, the sizes are unknown.
#pragma once

#include <cstdint>

#include "poise/workload/workload.h"

namespace poise::apps {

/// True if at least one task has a size.
bool has_sizes(const Workload& workload);

/// True if the bytes and the time of `migrations` migrations are known. If `migrations` is 0, both
/// are known: they are 0.
inline bool knows_migration_cost(std::uint64_t migrations, bool has_sizes) {
  return has_sizes || migrations == 0;
}

}  // namespace poise::apps
