// SPDX-License-Identifier: BSD-3-Clause
// The file format of a run's profile, which the library writes and `poise profile` reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/profile/cpu_watch.h"
#include "runtimes/profile/phase.h"
#include "runtimes/profile/recorder.h"
#include "runtimes/profile/team_watch.h"

namespace poise::profile {

/// The digit at the end is the version of the format. Older versions can be read, too: version 6
/// lacks useful_queued_ns in Totals, version 5 also lacks the quota in CpuUse, version 4 lacks all
/// of CpuUse, version 3 also lacks TeamUse, and version 2 also lacks Reorderings.
inline constexpr std::string_view kMagic = "POISE PROFILE 7\n";
inline constexpr int kOldestVersion = 2;

/// A rank that prints why there is no profile creates this file in the folder of the parts.
inline constexpr std::string_view kToldFile = "/told";

/// The topologies that this process created with reorder = true while POISE_REORDER was set.
struct Reorderings {
  std::uint64_t calls = 0, reordered = 0;  // reordered: calls that found a better order
  /// Time from the start of calls with reorder = true until every rank knew its new rank.
  std::int64_t deciding_ns = 0;
  // Total distance of the edges: each edge's weight times its number of hops, summed over all
  // edges. `before` is for the old order of the ranks, `after` for the new one. Only the rank that
  // decided the order stores these sums.
  double before = 0, after = 0;
};

struct RankProfile {
  std::uint32_t rank = 0, num_ranks = 1;
  std::string host;
  Cuts cuts = Cuts::slices;
  bool is_complete = true;    // the rank reached MPI_Finalize
  bool knows_waiting = true;  // true if clocks are comparable; waits in collectives are then known
  /// False if the rank spent a notable part of the run (tuning::kMaxUnrecorded) in calls whose
  /// waits were not recorded: collectives on intercommunicators, and calls that may wait for
  /// messages once the order of messages was no longer known.
  bool knows_message_waits = true;
  /// Maximum difference, after correction, between this host's clock and the clock of rank 0.
  std::uint64_t clock_error_ns = 0;
  Reorderings reorderings = {};
  std::vector<Phase> phases = {};
  std::map<std::uint64_t, std::string> names = {};  // of labels
  TeamUse team = {};                                // empty if the rank did not reach MPI_Finalize
  CpuUse cpus = {};  // unknown if the rank did not reach MPI_Finalize
  /// The work of each OpenMP thread (omp_watch.h). It is the last part of a block of the file and
  /// is left out if unknown.
  std::vector<std::int64_t> omp_work_ns = {};
};

/// One block of a file. The block begins with its size; a file is kMagic followed by blocks in any
/// order.
std::string encode(const RankProfile& profile);

/// All blocks of a file, sorted by rank, without an incomplete block at the end. Throws
/// std::runtime_error with `name` and the offset if the bytes are not a profile.
std::vector<RankProfile> decode(std::string_view name, std::string_view bytes);

}  // namespace poise::profile
