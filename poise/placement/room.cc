// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/room.h"

#include "poise/base/error.h"

namespace poise {

Placement within_room(const Problem& problem, const Placement& wanted,
                      std::uint64_t place_cap_bytes) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const Placement& current = problem.current;
  if (!workload.capacity.is_limited())
    return within_memory(machine, workload, current, wanted, place_cap_bytes);
  if (MemoryRoom(machine, workload, current, place_cap_bytes).is_limited())
    fail("limits on cores and on memory cannot be combined; give only one of them");
  return within_capacity(problem, wanted);
}

}  // namespace poise
