// SPDX-License-Identifier: BSD-3-Clause
// Determines why a profiled run lost time, and what would help. diagnose() has no side effects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/diagnosis/advice.h"
#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/measured_run.h"
#include "poise/trace/trace.h"

namespace poise {

/// A rank for which other ranks waited.
struct LateRank {
  std::uint32_t rank = 0, num_waiting = 0;
  double seconds = 0;  // time that other ranks waited for this one, summed over them
};

/// The main cause that slows down the threads of a node: the cause whose removal would save the
/// most time.
struct ThreadCause {
  std::uint32_t node = 0;
  JuggleCause cause;
};

/// How evenly the work is divided among the threads of each rank.
struct TeamBalance {
  /// The average, over all ranks with several threads, of the ratio of the mean work of a rank's
  /// threads to the work of its busiest thread.
  double even = 1;
  double worst = 1;         // the ratio in the rank whose threads are the least evenly loaded
  std::uint32_t rank = 0;   // the rank whose threads are the least evenly loaded
  std::uint32_t ranks = 0;  // number of ranks with several threads
};

struct Diagnosis {
  Efficiencies whole;
  bool knows_waiting = true;  // false: serialisation and transfer cannot be distinguished
  bool knows_threads = true;  // false: threads and other programs are unknown
  /// The efficiencies of each group of phases with the same name. Empty if phases have no names.
  std::vector<std::pair<std::string, Efficiencies>> named;
  Imbalance imbalance;
  std::vector<LateRank> late;  // the rank for which others waited longest comes first
  /// The first advice is the one to try: it needs the least effort among all advice that saves
  /// nearly as much as the best. The others follow by descending savings. The list is never empty:
  /// if no advice saves enough, the first one is Remedy::nothing.
  std::vector<Advice> advice;
  /// The fraction of the message costs that another mapping of ranks would save, according to the
  /// machine's model; 0 without a machine.
  double mapping_share = 0;
  std::vector<PlaceId> map;  // the place of each rank in the advised mapping; empty: none
  /// The smallest CPU quota of any node, as a number of cpus; 0: no quota.
  double quota_cpus = 0;
  std::vector<ThreadCause> threads;  // what `poise juggle --diagnose` would report
  TeamBalance teams;
  /// The numbers of ranks and of cores of the node with the most ranks; both are 0 if unknown.
  std::uint32_t ranks_per_node = 0, cores_per_node = 0;
};

/// `trace` must be from the same run as the profile `run`: it has the same phases, and its tasks
/// are the ranks. Throws Error if the numbers of ranks or of phases differ.
Diagnosis diagnose(const MeasuredRun& run, const Trace& trace);

}  // namespace poise
