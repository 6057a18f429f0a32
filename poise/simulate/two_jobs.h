// SPDX-License-Identifier: BSD-3-Clause
// Two programs that share a machine, each balanced on its own places: how long both take.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 6.
#pragma once

#include <cstdint>

namespace poise {

/// Two programs with one phase of phase_s seconds per thread. Each thread has a place, so
/// threads_a + threads_b - places places run a thread of either program.
struct TwoJobs {
  std::uint64_t threads_a = 0, threads_b = 0, places = 0;
  double phase_s = 1;
};

/// When the programs end, and the share of the machine that they used until then.
struct TwoEnds {
  double a_s = 0, b_s = 0, used = 0;
};

/// The limit for short periods: all threads of a program progress at its mean rate until one
/// program ends; then the other has its places for itself. Throws Error if the programs do not
/// overlap or a program has more threads than places.
TwoEnds two_jobs_limit(const TwoJobs& jobs);

/// The same, simulated: every period_s seconds the least advanced threads of each program go to the
/// places that it does not share. Without balancing for period_s = 0. Throws Error as above.
TwoEnds simulate_two_jobs(const TwoJobs& jobs, double period_s);

/// One team of all threads of both programs (docs/juggle.md): both end at the same time.
TwoEnds one_team_limit(const TwoJobs& jobs);

}  // namespace poise
