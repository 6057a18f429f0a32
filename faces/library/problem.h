// SPDX-License-Identifier: BSD-3-Clause
// Converts the arguments of a C call: handles to a problem, and names to strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/analysis/contender.h"
#include "faces/library/handles.h"

#include "poise/placement/metrics.h"

namespace poise::library {

/// A problem: a machine, a workload and the current placement. Only the placement is copied; the
/// machine and the workload must outlive this object.
class CheckedProblem {
 public:
  /// `current` may be null. Throws Error if the sizes of the machine, the workload and the
  /// placement do not match.
  CheckedProblem(const poise_machine* machine, const poise_workload* workload,
                 const std::uint32_t* current, std::uint64_t seed);
  CheckedProblem(const CheckedProblem&) = delete;
  CheckedProblem& operator=(const CheckedProblem&) = delete;
  Problem view() const;

 private:
  const poise_machine& machine_;
  const poise_workload& workload_;
  Placement current_;
  std::uint64_t seed_;
};

/// Throws Error if the workload limits the cores of memory domains, but has limits for more or
/// fewer domains than the machine has.
void check_domains(const Workload& workload, const Machine& machine);

/// Returns the strategies that the text `strategies` lists (null: all rows of the table that are
/// not marked is_oracle), followed by the caller's own strategies.
std::vector<apps::Contender> contenders_of(const char* strategies, const poise_own_strategy* own,
                                           std::uint64_t num_own);
/// Time limit in seconds for a program that acts as a strategy ("exec:...").
double exec_limit_s();

poise_metrics metrics_of(const Metrics& metrics);

}  // namespace poise::library
