// What thread balancing can gain: closed forms for n identical threads on m equal places.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 3;
// equation numbers are the paper's. Its assumptions are ours: decisions and migrations cost nothing
// and each place is shared fairly among the threads that run there.
#pragma once

#include <cstdint>

namespace poise {

/// Threads that compute for phase_s each, on a place of their own, and then meet at a barrier.
struct SpmdProgram {
  std::uint64_t threads = 0;  // n
  std::uint64_t places = 0;   // m
  double phase_s = 0;         // e
  std::uint64_t phases = 1;   // l: phases follow one another at once
};

/// Throws Error naming the figure that is wrong: no thread, no place, no phase, a length that is
/// not positive and finite.
void check(const SpmdProgram& program);
void check_period(double period_s);

/// How n threads share m places when no place has two more than another.
///
/// A slow slot progresses at 1 / most, a fast one at 1 / fewest. The floors and ceilings are lost
/// in copies of the paper; these follow from its definitions in section 3.
struct Slots {
  std::uint64_t most = 0;    // ceil(n/m): threads of a slow place
  std::uint64_t fewest = 0;  // floor(n/m): threads of a fast place
  std::uint64_t slow = 0;    // (n mod m) * ceil(n/m): slots of the n mod m slow places
  std::uint64_t fast = 0;    // n - slow
};
Slots slots_of(const SpmdProgram& program);

/// False when every place has its equal share, so that no balancing can gain: n mod m = 0 or n < m.
bool is_imbalanced(const SpmdProgram& program);

/// Threads stay where they start: l e ceil(n/m) (1).
double static_s(const SpmdProgram& program);

/// The limit of ever shorter periods, and a bound for all: l e n/m (14, 15); l e when n < m.
double ideal_s(const SpmdProgram& program);

/// How far two threads can be apart at a balancing point: period / (ceil(n/m) floor(n/m)) (3,
/// Lemma 1); 0 when there is nothing to balance.
double lag_s(const SpmdProgram& program, double period_s);

/// No proactive balancing finishes one phase sooner: the larger of e floor(n/m) + lag (2) and
/// e n/m (14) when the period is shorter than the phase; else e ceil(n/m), for no balancing point
/// falls into the first phase. Regards one phase, whatever program.phases is.
double proactive_bound_s(const SpmdProgram& program, double period_s);

/// The mean time of a phase with one balancing point, equally likely anywhere in it:
/// e (ceil(n/m) - 1/4), or e ceil(n/m) when there are fewer fast slots than slow ones, for then
/// some thread is slow before and after.
///
/// The paper's last line drops e. Its average takes the point as the same fraction of the work of
/// slow and of fast threads; at one instant the fractions differ, and a simulation with random
/// points gives less: 5/3 instead of 7/4 at 8 threads on 7 places.
double balanced_once_s(const SpmdProgram& program);

/// What l phases take, about: l times the bound of one (16) while the period is shorter than a
/// static phase, else with one balancing point in some of the phases (17), or without gain (18).
///
/// The paper counts a balancing point at the very end of the last phase, we do not. It names
/// equation 18 as its curve for 8 threads on 7 places (figure 11); by its own condition, fewer
/// fast slots than slow ones, that curve is equation 17.
double proactive_approximation_s(const SpmdProgram& program, double period_s);

/// Threads move at once when others block, at no cost: the remaining threads, equally far, are
/// spread again, and again. Exact for any n and m; (19-21) for 1 < n/m < 2.
///
/// For 16 threads on 12 places this gives 1.5 e, a relative speed-up of 4/3, by the paper's own
/// equation; its section 4.3 says that reactive equals proactive (3/2) there, and once "m = 8"
/// where 12 is meant.
double reactive_s(const SpmdProgram& program);

/// l e (2 - 2^-k), the smallest k with (2m - n) 2^k >= m (21); only for m < n < 2m.
double reactive_closed_form_s(const SpmdProgram& program);

}  // namespace poise
