// SPDX-License-Identifier: BSD-3-Clause
// The strategy `poise` as a function with options. Strategy `optimal` calls it to find its initial
// placement.
#pragma once

#include <cstdint>

#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

struct PoiseOptions {
  double steps = 0;  // phases until the next decision; 0: the number in the problem
  bool from_scratch = false;
  std::uint64_t memory_bytes = 0;
  double passes = 0;
  double budget_s = 0;
  unsigned threads = 1;
  Tuning tuning = {};
};

/// Throws Error if the options contradict each other.
Placement poise_strategy(const Problem& problem, const PoiseOptions& options = {});

}  // namespace poise
