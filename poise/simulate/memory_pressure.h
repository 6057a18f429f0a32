// SPDX-License-Identifier: BSD-3-Clause
// Migrations into memory that is nearly full take longer: the system has to free pages before it
// can hand them out.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/tuning.h"
#include "poise/workload/workload.h"

namespace poise {

struct MemoryPressure {
  /// Factor by which unpacking takes longer when the memory is full. 1: full memory has no effect.
  double factor = 1;
  /// Bytes of memory per place. If 0, the places of a domain share the memory of the domain, which
  /// the description of the machine must then state.
  std::uint64_t place_bytes = 0;
};

/// Throws Error if the factor of `pressure` is above 1, but the memory size of the places is
/// unknown.
void check(const MemoryPressure& pressure, const Machine& machine);

/// Returns for each place the factor by which full memory slows unpacking down. The factor is 1 if
/// at most the fraction simulate_tuning::kRelaxedFill of the memory is used. Above that, it grows
/// linearly; it is `factor` when the memory is full. While tasks move, the memory holds
/// Workload::place_bytes, the tasks that it held before and those that arrive. A task needs its
/// footprint or, if that is unknown, its migrated bytes; shared blocks and working memory are
/// ignored. Throws what check() throws. O(tasks + places).
std::vector<double> unpacking_factors(const Machine& machine, const Workload& workload,
                                      const Placement& before, const Placement& after,
                                      const MemoryPressure& pressure);

}  // namespace poise
