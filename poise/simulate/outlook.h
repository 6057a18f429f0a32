// SPDX-License-Identifier: BSD-3-Clause
// Predicts what thread balancing gains for a program: theory, simulation and advice.
#pragma once

#include <cstdint>
#include <string>

#include "poise/simulate/juggle_ideal.h"
#include "poise/simulate/theory.h"

namespace poise {

struct OutlookQuestion {
  SpmdProgram program;
  double period_s = 0;
  std::uint64_t domains = 1;  // number of domains; threads stay in their domain
  double jitter = 0;          // see JuggleRun
  std::uint64_t seed = 0;
};

/// Predicted times in seconds for all phases. With several domains they are the times of the
/// slowest domain, because barriers wait for it.
struct Outlook {
  OutlookQuestion question;
  double static_s = 0;    // time without moves: equation (1) of the paper
  double ideal_s = 0;     // with very short periods: equations (14) and (15) of the paper
  double reactive_s = 0;  // reactive balancing: equations (19) to (21), but for any n/m
  /// Lower bound: the paper's equations (2) and (14) for one phase, (15) for several phases.
  double bound_s = 0;
  double approximation_s = 0;      // proactive balancing: equations (16) to (18) of the paper
  JuggleOutcome simulated;         // outcome of balancing by sorting (section 3 of the paper)
  JuggleOutcome simulated_swaps;   // outcome of balancing by swaps (section 2.3 of the paper)
  JuggleOutcome simulated_hybrid;  // outcome of sorting combined with reactive balancing
  std::string advice;              // one line
};

/// Predicts what balancing gains for the program in `question`. Throws Error if a number in
/// `question` is invalid or the simulation would take minutes.
Outlook outlook(const OutlookQuestion& question);

}  // namespace poise
