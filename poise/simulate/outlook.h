// What a program may expect of thread balancing: theory, simulation and advice in one place.
#pragma once

#include <cstdint>
#include <string>

#include "poise/simulate/juggle_ideal.h"
#include "poise/simulate/theory.h"

namespace poise {

struct OutlookQuestion {
  SpmdProgram program;
  double period_s = 0;
  std::uint64_t domains = 1;  // threads stay in theirs
  double jitter = 0;          // see JuggleRun
  std::uint64_t seed = 0;
};

/// Seconds for all phases. Over several domains: the slowest domain's, since the barrier waits.
struct Outlook {
  OutlookQuestion question;
  double static_s = 0;             // (1)
  double ideal_s = 0;              // (14, 15)
  double reactive_s = 0;           // (19-21), and beyond 1 < n/m < 2
  double bound_s = 0;              // (2) and (14) for one phase, (15) for several
  double approximation_s = 0;      // (16-18)
  JuggleOutcome simulated;         // the sorting of section 3
  JuggleOutcome simulated_swaps;   // the swaps of section 2.3
  JuggleOutcome simulated_hybrid;  // sorting, and reacting as well
  std::string advice;              // one line
};

/// Throws Error when the question makes no sense or would take minutes to simulate.
Outlook outlook(const OutlookQuestion& question);

}  // namespace poise
