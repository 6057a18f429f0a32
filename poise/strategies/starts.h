// Strategies that other strategies start from, as functions with parameters.
#pragma once

#include <cstdint>

#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

// The initial values of these strategies' knobs; table.cc explains the knobs.
inline constexpr double kGreedyCommWeight = 1;
inline constexpr double kNucoAlpha = 1e-5;  // seconds per message received and unit of factor
inline constexpr double kRefineCommTolerance = 1.05;

struct PoiseOptions {
  double steps = 10;
  bool from_scratch = false;
  std::uint64_t memory_bytes = 0;
  double passes = 0;
  double budget_s = 0;
  unsigned threads = 1;
  Tuning tuning = {};
};

Placement greedy_comm(const Problem& problem, double message_weight = kGreedyCommWeight);
Placement nuco(const Problem& problem, double alpha = kNucoAlpha, bool has_local = true);
Placement poise_strategy(const Problem& problem, const PoiseOptions& options = {});
Placement refine_comm(const Problem& problem, double tolerance = kRefineCommTolerance);

}  // namespace poise
