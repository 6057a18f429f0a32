// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/memory_pressure.h"

#include <algorithm>

#include "poise/base/error.h"

namespace poise {

namespace {

/// Returns the bytes that the memory of each place holds while tasks move.
std::vector<double> bytes_in_migration(const Workload& workload, const Placement& before,
                                       const Placement& after, std::uint32_t num_places) {
  std::vector<double> bytes(workload.place_bytes.begin(), workload.place_bytes.end());
  bytes.resize(num_places, 0);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const double size =
        workload.memory.empty() ? workload.tasks[t].bytes : workload.memory[t].footprint_bytes;
    bytes[before.of(t)] += size;
    if (after.of(t) != before.of(t)) bytes[after.of(t)] += size;
  }
  return bytes;
}

}  // namespace

void check(const MemoryPressure& pressure, const Machine& machine) {
  if (pressure.factor <= 1 || pressure.place_bytes > 0) return;
  if (machine.parts().facts.memory_bytes.size() != machine.num_domains())
    fail(
        "the description of the machine does not say how much memory its domains have; give the "
        "memory of a place with --place-memory");
}

std::vector<double> unpacking_factors(const Machine& machine, const Workload& workload,
                                      const Placement& before, const Placement& after,
                                      const MemoryPressure& pressure) {
  check(pressure, machine);
  const std::uint32_t num_places = machine.num_places();
  if (pressure.factor <= 1) return std::vector<double>(num_places, 1);
  const bool is_per_place = pressure.place_bytes > 0;
  const std::vector<std::uint64_t>& domain_memory = machine.parts().facts.memory_bytes;
  std::vector<double> fill = bytes_in_migration(workload, before, after, num_places);
  std::vector<double> in_domain(machine.num_domains(), 0);
  for (PlaceId p = 0; p < num_places; ++p) in_domain[machine.domain_of(p)] += fill[p];
  for (PlaceId p = 0; p < num_places; ++p) {
    const DomainId domain = machine.domain_of(p);
    if (is_per_place)
      fill[p] /= pressure.place_bytes;
    else
      fill[p] = in_domain[domain] / std::max<std::uint64_t>(1, domain_memory[domain]);
  }
  for (double& value : fill)
    value = 1 + (pressure.factor - 1) * std::max(0.0, value - simulate_tuning::kRelaxedFill) /
                    (1 - simulate_tuning::kRelaxedFill);
  return fill;
}

}  // namespace poise
