// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/longest_first.h"

#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

Placement longest_first(const Problem& problem) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  FirstToFinish places(machine, fixed_work_s(machine, workload, problem.current));
  Placement placement = problem.current;
  for (const auto [t, load_s] : heaviest_first(workload.tasks)) {
    const PlaceId p = places.with(load_s);
    placement.move(t, p);
    places.add(p, load_s / machine.speed_of(p));
  }
  return placement;
}

}  // namespace poise
