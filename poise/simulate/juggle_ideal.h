// SPDX-License-Identifier: BSD-3-Clause
// Simulates exactly how Juggle balances n threads on m places under ideal conditions. Overheads,
// time slices and unequal phases, which the paper leaves as future work, can be added.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 3.
// Unless JuggleRun says otherwise, the threads of a place share its time perfectly fairly, the
// balancer has precise information at no cost, and migrations cost nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/simulate/theory.h"

namespace poise {

/// How the simulation decides when threads are moved.
enum class Balancing : std::uint8_t {
  none,       // threads stay where they start
  reactive,   // threads move whenever one blocks at the barrier
  proactive,  // threads move every period
  hybrid      // both, as section 6 of the paper proposes; may be slower than reactive alone
};

/// How threads are moved at a periodic balancing point. Reactive moves always use sorting.
enum class Redistribution : std::uint8_t {
  // Section 3 of the paper on Juggle: the least advanced threads go to the places with fewest
  // running threads.
  sorted,
  swaps  // section 2.3 of that paper: juggle_swaps(), as the thread balancer does
};

struct JuggleRun {
  SpmdProgram program;
  Balancing balancing = Balancing::proactive;
  Redistribution redistribution = Redistribution::sorted;
  double period_s = 0;  // balancing period, for proactive and hybrid balancing
  /// Each period is lengthened or shortened by a random amount of up to this fraction of it. This
  /// is the paper's remedy for a period that is in step with the phases (figure 11).
  double jitter = 0;
  std::uint64_t seed = 0;
  /// Domain of each place. If it is given, threads stay in their domain (section 2.4).
  std::vector<DomainId> domain_of_place = {};
  /// Work of each thread in every phase, as a multiple of program.phase_s. Empty if all threads
  /// have equal work.
  std::vector<double> work_of_thread = {};
  /// A periodic balancing point stops every place for point_cost_s. A thread that moves then stops
  /// its new place for migration_cost_s. Both costs are in seconds.
  double point_cost_s = 0, migration_cost_s = 0;
  /// Length of the time slices in which threads of a place run one after the other, in seconds. 0:
  /// they share the place at every instant, as reactive and hybrid balancing require.
  double slice_s = 0;
};

/// Lower bound on the time of a program whose threads have unequal work: the work of the longest
/// thread or, if that is larger, the work of all threads divided by the number of places. JuggleRun
/// explains `work_of_thread`.
double unequal_ideal_s(const SpmdProgram& program, std::span<const double> work_of_thread);

/// True if the simulation takes seconds, not minutes.
bool is_short(const JuggleRun& run);

/// Throws Error if a number in `run` is invalid, or if the simulation is not is_short().
void check(const JuggleRun& run);

struct JuggleOutcome {
  double completion_s = 0;             // time of all phases together
  std::uint64_t balancing_points = 0;  // periodic ones only
  std::uint64_t migrations = 0;        // two per swap; moves by sorting are not counted
};

/// Called at every periodic balancing point before threads move, with the seconds since the start
/// and the seconds of work that each thread has done so far.
using JuggleObserver = std::function<void(double now_s, std::span<const double> progress_s)>;

/// Simulates the program to its end. Barriers do not restart the balancing period. O(n log n) per
/// balancing point. Throws Error as check() does.
JuggleOutcome simulate_juggle(const JuggleRun& run, const JuggleObserver& observe = {});

/// Returns the domain of each place if consecutive places are divided into `domains` domains whose
/// sizes differ by at most one.
std::vector<DomainId> equal_domains(std::uint64_t places, std::uint64_t domains);

}  // namespace poise
