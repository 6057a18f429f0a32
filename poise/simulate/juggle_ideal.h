// The idealised Juggle: n threads on m places, simulated exactly, without overheads.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 3
// for the assumptions (perfectly fair places, free and precise information, free migrations).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/simulate/theory.h"

namespace poise {

/// When threads are moved.
enum class Balancing : std::uint8_t {
  none,       // they stay where they start
  reactive,   // whenever a thread blocks at the barrier
  proactive,  // every period
  hybrid      // both: the paper's section 6 proposes it; may be slower than reactive alone
};

/// How they are moved at a periodic balancing point; reactive moves always sort.
enum class Redistribution : std::uint8_t {
  sorted,  // section 3: threads not blocked, least advanced first, to fast slots, then to slow ones
  swaps    // section 2.3: juggle_swaps, as the thread balancer does it
};

struct JuggleRun {
  SpmdProgram program;
  Balancing balancing = Balancing::proactive;
  Redistribution redistribution = Redistribution::sorted;
  double period_s = 0;  // of proactive and hybrid
  /// Each period is longer or shorter by up to this share of itself, at random: the paper's cure
  /// for a period in step with the phases (figure 11).
  double jitter = 0;
  std::uint64_t seed = 0;
  std::vector<DomainId> domain_of_place = {};  // given: threads stay in their domain (section 2.4)
};

/// Throws Error naming the figure that is wrong, or for a run that would take more than minutes.
void check(const JuggleRun& run);

struct JuggleOutcome {
  double completion_s = 0;             // of all phases
  std::uint64_t balancing_points = 0;  // periodic ones
  std::uint64_t migrations = 0;        // two per swap; sorting is not counted
};

/// Called at every periodic balancing point, before threads move: seconds since the start, and the
/// seconds of computation each thread has behind it in all phases.
using JuggleObserver = std::function<void(double now_s, std::span<const double> progress_s)>;

/// Runs the program to its end. Periods run through the phases: a barrier does not restart them.
/// O(n log n) per balancing point. Throws Error as check does.
JuggleOutcome simulate_juggle(const JuggleRun& run, const JuggleObserver& observe = {});

/// `domains` domains as equal as possible, the larger ones first, for a run over several domains.
std::vector<DomainId> equal_domains(std::uint64_t places, std::uint64_t domains);

}  // namespace poise
