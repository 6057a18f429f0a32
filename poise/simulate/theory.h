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

/// Throws Error naming the invalid number: no threads, places or phases, or a phase length that is
/// not positive and finite.
void check(const SpmdProgram& program);
void check_period(double period_s);

/// How n threads share m places if the numbers of threads on two places differ by at most one. A
/// slow slot is on a place with `most` threads and progresses at rate 1 / most; a fast one is on a
/// place with `fewest` threads and progresses at rate 1 / fewest. Copies of the paper have lost the
/// floor and ceiling signs; those here follow from the definitions in its section 3.
struct Slots {
  std::uint64_t most = 0;    // ceil(n/m): threads of a slow place
  std::uint64_t fewest = 0;  // floor(n/m): threads of a fast place
  std::uint64_t slow = 0;    // (n mod m) * ceil(n/m): slots of the n mod m slow places
  std::uint64_t fast = 0;    // n - slow
};
Slots slots_of(const SpmdProgram& program);

/// False if every place has an equal share, so that balancing gains nothing: n mod m = 0 or n < m.
bool is_imbalanced(const SpmdProgram& program);

/// Time if threads stay where they start: l e ceil(n/m), equation (1).
double static_s(const SpmdProgram& program);

/// Limit of the time as the period approaches 0, and a lower bound for every period: l e n/m,
/// equations (14) and (15); l e if n < m.
double ideal_s(const SpmdProgram& program);

/// Maximum difference in progress between two threads at a balancing point: period / (ceil(n/m)
/// floor(n/m)), equation (3), Lemma 1. It is 0 if there is nothing to balance.
double lag_s(const SpmdProgram& program, double period_s);

/// Lower bound on one phase with proactive balancing. If the period is shorter than the phase: the
/// larger of e floor(n/m) + lag (2) and e n/m (14). Otherwise e ceil(n/m), because the first phase
/// has no balancing point. Ignores program.phases.
double proactive_bound_s(const SpmdProgram& program, double period_s);

/// Lower bound on one phase of the idealised algorithm, tighter than (2) if floor(n/m) > 1. Exact
/// if no thread blocks before the last balancing point. Ignores program.phases. O(1).
///
/// Every period hands out n_f steps of the lag (3), one to each of the n_f threads that are least
/// advanced. After k points all threads have had floor(k n_f / n) steps, and the k n_f mod n most
/// advanced ones one more. From then on each place needs the sum of what its threads have left; if
/// no sum exceeds the period, the largest one ends the phase. If a place runs out of work before
/// the next point but another does not, the phase ends after that point, and not before all places
/// together can do what is left.
double proactive_tight_bound_s(const SpmdProgram& program, double period_s);

/// Time with balancing points that stop every place for cost_s: the time without cost, divided by
/// the share of a period that is left. Infinite if the cost is not below the period.
double with_cost_s(double without_cost_s, double period_s, double cost_s);

/// Mean time of a phase with one balancing point at a uniformly random time: e (ceil(n/m) - 1/4),
/// or e ceil(n/m) if there are fewer fast slots than slow ones, because then some thread is slow
/// before and after.
///
/// The paper's last line omits e. Its average places the point at the same fraction of the work of
/// slow and fast threads; at one instant these fractions differ, and a simulation with random
/// points gives less: 5/3 instead of 7/4 for 8 threads on 7 places.
double balanced_once_s(const SpmdProgram& program);

/// Approximate time of l phases: l times the bound of one phase (16) if the period is shorter than
/// a static phase; otherwise with one balancing point in some phases (17), or without gain (18).
///
/// The paper counts a balancing point at the end of the last phase; this function does not. The
/// paper calls its curve for 8 threads on 7 places (figure 11) equation 18; by its own condition,
/// fewer fast slots than slow ones, it is equation 17.
double proactive_approximation_s(const SpmdProgram& program, double period_s);

/// Time with reactive balancing at no cost: whenever threads block, the remaining threads, which
/// have all progressed equally, are redistributed. Exact for any n and m; (19-21) for 1 < n/m < 2.
/// For 16 threads on 12 places this gives 1.5 e, a speed-up of 4/3, by the paper's own equation.
/// Its section 4.3 says that reactive equals proactive (3/2) there, and once says "m = 8" instead
/// of 12.
double reactive_s(const SpmdProgram& program);

/// Closed form of reactive_s(): l e (2 - 2^-k) with the smallest k for which (2m - n) 2^k >= m,
/// equation (21). Only for m < n < 2m.
double reactive_closed_form_s(const SpmdProgram& program);

}  // namespace poise
