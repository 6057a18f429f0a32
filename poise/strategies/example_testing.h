// SPDX-License-Identifier: BSD-3-Clause
// For tests: small problems, and functions that run strategies on them and evaluate the placements.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {

inline Placement rebalanced(const std::string& strategy, const Machine& machine,
                            const Workload& workload, const Placement& current) {
  return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
}

struct Example {
  Machine machine;
  Workload workload;
  Placement current;

  Placement placed(const std::string& strategy, std::uint64_t seed = 1) const {
    return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs(), seed});
  }
  Metrics metrics(const Placement& placed) const {
    return evaluate(machine, workload, machine.costs(), current, placed);
  }
};

inline Example example(const char* machine, const std::vector<double>& loads_s,
                       std::vector<PlaceId> places) {
  Example made{machine_from_text(machine), {}, Placement(std::move(places))};
  for (const double load_s : loads_s) made.workload.tasks.push_back({load_s});
  return made;
}

}  // namespace poise
