// SPDX-License-Identifier: BSD-3-Clause
// What thread balancing can gain: closed forms for n identical threads on m equal places.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 3,
// with its equation numbers and assumptions: decisions and migrations cost nothing, and threads on
// a place share it fairly.
#pragma once

#include <cstdint>

namespace poise {

/// A program whose threads compute for phase_s each (alone on a place) and then meet at a barrier.
struct SpmdProgram {
  std::uint64_t threads = 0;  // n
  std::uint64_t places = 0;   // m
  double phase_s = 0;         // e
  std::uint64_t phases = 1;   // l: number of phases
};

/// Throws Error if there are no threads, places or phases, or if the length of a phase is not
/// positive and finite.
void check(const SpmdProgram& program);
void check_period(double period_s);

/// How n threads share m places if the numbers of threads on two places differ by at most one. A
/// slow slot is on a place with `most` threads and progresses at rate 1 / most; a fast one is on a
/// place with `fewest` threads and progresses at rate 1 / fewest. In copies of the paper the floor
/// and ceiling signs are missing; the signs below follow from the definitions in its section 3.
struct Slots {
  std::uint64_t most = 0;    // ceil(n/m): number of threads on a slow place
  std::uint64_t fewest = 0;  // floor(n/m): number of threads on a fast place
  std::uint64_t slow = 0;    // (n mod m) * ceil(n/m): slots of the n mod m slow places
  std::uint64_t fast = 0;    // n - slow
};
Slots slots_of(const SpmdProgram& program);

/// False if every place has an equal share of the threads, so that balancing gains nothing: for n
/// threads on m places, if n mod m = 0 or n < m.
bool is_imbalanced(const SpmdProgram& program);

/// Time of l phases of length e if n threads stay on the m places where they start: l e ceil(n/m),
/// equation (1).
double static_s(const SpmdProgram& program);

/// Time of l phases of length e, for n threads on m places, in the limit of short balancing
/// periods: l e n/m, equations (14) and (15), or l e if n < m. It is a lower bound for every
/// period.
double ideal_s(const SpmdProgram& program);

/// Maximum difference in progress between two of n threads on m places at a balancing point: period
/// / (ceil(n/m) floor(n/m)), equation (3), Lemma 1. It is 0 if there is nothing to balance.
double lag_s(const SpmdProgram& program, double period_s);

/// Lower bound on the time of one phase with proactive balancing of n threads on m places, with a
/// balancing point every period_s seconds. Each thread computes for e seconds in a phase, so
/// without balancing the phase takes e ceil(n/m). If period_s is shorter than this time, the bound
/// is the larger of e floor(n/m) + lag_s(), equation (2), and e n/m, equation (14). Otherwise the
/// phase ends before the first balancing point, and the bound is e ceil(n/m). Ignores
/// program.phases.
double proactive_bound_s(const SpmdProgram& program, double period_s);

/// Lower bound on the time of one phase under the idealised algorithm, which sorts threads by
/// progress at every balancing point. It is tighter than proactive_bound_s() if every place has at
/// least two threads, and exact if no thread blocks before the last balancing point. Ignores
/// program.phases. O(1).
///
/// Let n_f be the number of fast slots. In every period the n_f least advanced threads are in the
/// fast slots, where each gains lag_s() on the threads in slow slots. After k balancing points
/// every thread has gained lag_s() floor(k n_f / n) times, and (k n_f mod n) of the threads have
/// gained it once more. From then on each place needs as much time as the sum of the remaining work
/// of its threads. If no place needs more than a period, the phase ends when the last place is
/// done. Otherwise, if some thread can finish before the next balancing point, the phase ends after
/// that point. The bound is never below proactive_bound_s().
double proactive_tight_bound_s(const SpmdProgram& program, double period_s);

/// Time if every balancing point stops all places for cost_s: without_cost_s divided by 1 - cost_s
/// / period_s. Infinite if cost_s is not below period_s.
double with_cost_s(double without_cost_s, double period_s, double cost_s);

/// Mean time of a phase of length e, for n threads on m places, with one balancing point at a
/// uniformly random time: e (ceil(n/m) - 1/4). If there are fewer fast slots than slow ones (see
/// Slots), it is e ceil(n/m), because then some thread is in a slow slot both before and after the
/// balancing point.
///
/// The last line of the paper's derivation omits the factor e. The derivation also assumes that
/// slow and fast threads have done the same fraction of their work at the balancing point. In truth
/// fast threads have done more by then, so a simulation with random balancing points gives a
/// shorter mean time: 5/3 e instead of 7/4 e for 8 threads on 7 places.
double balanced_once_s(const SpmdProgram& program);

/// Approximate time of l phases. If the period is shorter than a phase without balancing, it is l
/// times proactive_bound_s(), equation (16). Otherwise some phases have one balancing point and the
/// others have none. Phases with a balancing point take balanced_once_s(): they are shorter than
/// the others, equation (17), unless there are fewer fast slots than slow ones, equation (18).
///
/// The paper counts a balancing point at the end of the last phase; this function does not. The
/// paper says that figure 11 shows equation (18) for 8 threads on 7 places. In truth equation (17)
/// applies there, because 8 threads on 7 places have more fast slots than slow ones.
double proactive_approximation_s(const SpmdProgram& program, double period_s);

/// Time with reactive balancing at no cost: whenever threads block, the remaining threads, which
/// have all progressed equally, are redistributed. Exact for any n and m, whereas equations (19) to
/// (21) require 1 < n/m < 2.
///
/// For 16 threads on 12 places a phase of length e takes 1.5 e, a speed-up of 4/3, in accordance
/// with equation (21). Section 4.3 of the paper says instead that reactive balancing equals
/// proactive balancing (a speed-up of 3/2) there, and once says "m = 8" instead of 12.
double reactive_s(const SpmdProgram& program);

/// Closed form of reactive_s(), equation (21): l phases of length e take l e (2 - 2^-k) with the
/// smallest k for which (2m - n) 2^k >= m. Only for m < n < 2m, with n threads and m places.
double reactive_closed_form_s(const SpmdProgram& program);

}  // namespace poise
