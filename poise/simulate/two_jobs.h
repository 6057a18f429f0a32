// SPDX-License-Identifier: BSD-3-Clause
// How long two programs that share a machine take if each is balanced on its own places.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 6.
#pragma once

#include <cstdint>

namespace poise {

/// Two programs whose threads compute for phase_s seconds each. Every place is used, and threads of
/// the same program never share a place. So the number of shared places is threads_a + threads_b -
/// places; each of them runs one thread of each program.
struct TwoJobs {
  std::uint64_t threads_a = 0, threads_b = 0, places = 0;
  double phase_s = 1;
};

/// The times at which the two programs end, and the fraction of the machine that they used until
/// the later of these times.
struct TwoEnds {
  double a_s = 0, b_s = 0, used = 0;
};

/// The end times in the limit of short balancing periods: all threads of a program progress at its
/// mean rate until one program ends; then the other program has its places for itself. Throws Error
/// if a program has no threads or more threads than places, or if not all places would be used.
TwoEnds two_jobs_limit(const TwoJobs& jobs);

/// Simulates the two programs: every period_s seconds, each program moves its least advanced
/// threads to the places that it has for itself. With period_s = 0, threads do not move. Throws
/// Error as two_jobs_limit() does.
TwoEnds simulate_two_jobs(const TwoJobs& jobs, double period_s);

/// The times at which the two programs end, in the limit of short periods, if all their threads are
/// balanced as one team (docs/juggle.md). Both times are the same.
TwoEnds one_team_limit(const TwoJobs& jobs);

}  // namespace poise
