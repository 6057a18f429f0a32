// SPDX-License-Identifier: BSD-3-Clause
// The cost of a unit of traffic between two places of the machine.
#pragma once

#include "poise/machine/factor_table.h"
#include "poise/placement/problem.h"

namespace poise {

/// The distance between two places: the weighted mean of the machine's message factor (which scales
/// the cost per message) and byte factor (the cost per byte). The weights are the shares that these
/// two costs would have in the total cost of all messages of the problem if all factors were 1.
/// Keeps a reference to the problem's machine.
class Distances {
 public:
  explicit Distances(const Problem& problem)
      : factors_(problem.machine), by_number_(share_by_number(problem)) {}

  double operator()(PlaceId a, PlaceId b) const {
    if (by_number_ == 1) return factors_.message(a, b);
    return by_number_ * factors_.message(a, b) + (1 - by_number_) * factors_.byte(a, b);
  }

 private:
  static double share_by_number(const Problem& problem) {
    const UnitCosts unit = unit_costs(problem.machine, problem.costs);
    double number_s = 0, bytes_s = 0;
    for (const Message& message : problem.workload.messages) {
      number_s += message.count * unit.message_s;
      bytes_s += message.bytes * unit.byte_s;
    }
    return number_s + bytes_s == 0 ? 1 : number_s / (number_s + bytes_s);
  }

  FactorTable factors_;
  double by_number_;
};

}  // namespace poise
