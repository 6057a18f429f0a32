// Whether the sizes of tasks, and so the cost of migrations, are known. A workload has no flag for
// it: tasks of which none has bytes are tasks of unknown size.
#pragma once

#include <cstdint>

#include "poise/workload/workload.h"

namespace poise::apps {

/// Whether some task has a size.
bool has_sizes(const Workload& workload);

/// Whether the bytes and the time of `migrations` migrations are known: always if nothing moves.
inline bool knows_migration_cost(std::uint64_t migrations, bool has_sizes) {
  return has_sizes || migrations == 0;
}

}  // namespace poise::apps
