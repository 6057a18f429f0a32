// SPDX-License-Identifier: BSD-3-Clause
// Balancing problems, drawn at random from a seed. Benchmarks compare the total times that are
// predicted for the placements of different strategies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "poise/placement/problem.h"
#include "poise/workload/generate.h"

namespace poise::bench {

/// A balancing problem, and the number of steps for which the new placement is used.
struct Case {
  std::string name, start;
  CostFormula formula;
  Machine machine;
  Workload workload;
  Placement current;
  std::uint64_t size_factor = 1;
  double steps = 1;

  Problem problem() const { return {machine, workload, current, machine.costs(), 1}; }
};

/// Selects which cases to draw.
struct CaseChoice {
  std::uint64_t seed = 1, draws = 3;  // draws per cell
  std::string only;                   // part of "KIND-TASKS", or of "KIND" if has_few_tasks
  std::string model;                  // "physical" or "nuco"; empty: both
  bool has_few_tasks = false;  // true: cases with fewer tasks than places, see for_each_case()
};

/// Draws cases from each cell. A cell is a kind of workload, a number of tasks, and a machine. In a
/// case, the sizes of all tasks are multiplied by 0, 1, 10 or 100, and the new placement is used
/// for 1 to 1,000 steps. Case::current is either the usual initial placement of the kind (`start`
/// is then "fresh"), or a placement that was balanced before the loads drifted.
///
/// If choice.has_few_tasks is true, the program begins on 1 to 4 places of a large machine, with
/// fewer tasks than the machine has places. A cell is then a kind of workload and one of three
/// machines with 768 to 8,192 places. The number of tasks is drawn; it is at least an eighth of the
/// number of places.
void for_each_case(const CaseChoice& choice,
                   const std::function<void(const Case&, const Kind&)>& visit);

}  // namespace poise::bench
