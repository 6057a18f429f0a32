// SPDX-License-Identifier: BSD-3-Clause
// The content of a profile: for each rank and phase, how the time was spent and which ranks waited
// for which.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "poise/online/juggle_causes.h"

namespace poise {

/// A number of seconds, and the half width of its 95 % confidence interval.
struct Seconds {
  double value = 0, half_width = 0;
};

/// The measurements of one rank in one phase.
struct RankTimes {
  double wall_s = 0;
  double useful_s = 0;  // outside MPI
  double load_s = 0;    // useful_s minus the time in which the rank waited for a core
  double asleep_s = 0;  // part of load_s in which the rank did not use its core
  double queued_s = 0;  // time in which the rank waited for a core, inside and outside MPI
  /// Time in MPI spent waiting for late ranks; the rest of the time in MPI is transfer.
  Seconds waited = {};
  std::vector<std::pair<std::uint32_t, double>> waited_for = {};  // rank, seconds
  double io_s = 0;  // time in MPI's file functions, waiting or transferring
};

struct MeasuredPhase {
  std::string name;  // name that the program gave the phase; empty: none
  std::vector<RankTimes> ranks = {};
};

/// The MPI process topologies created with reorder = true. Counted only if POISE_REORDER was set.
struct ReorderedTopologies {
  /// `calls` is the number of these topologies. `reordered` is the number of topologies that got a
  /// better rank order.
  std::uint64_t calls = 0, reordered = 0;
  /// Communication cost with the old order of the ranks (`before`) and with the new one (`after`):
  /// edge weight times hops, summed over all edges.
  double before = 0, after = 0;
  double deciding_s = 0;  // time that the slowest rank spent on choosing rank orders
};

/// The computing threads of one multi-threaded rank.
struct RankTeam {
  std::uint32_t rank = 0;
  /// Per thread: time in parallel regions outside of barriers if the OpenMP runtime reports it;
  /// else CPU time outside MPI, which includes the time for which threads spin while they wait for
  /// each other.
  std::vector<double> work_s = {};
};

/// The CPU quota of a node's cgroup. The kernel stops the processes of the cgroup until the end of
/// a period (usually 100 ms) when they have used up the CPU time that they may use per period.
struct NodeQuota {
  double cpus = 0;       // the quota as a number of cpus; 0: no quota, or unknown
  double stopped_s = 0;  // how long the kernel stopped the processes, summed over the cpus
};

/// The phases in chronological order. All have the same number of ranks.
struct MeasuredRun {
  std::vector<std::uint32_t> node_of_rank;
  std::vector<MeasuredPhase> phases = {};
  ReorderedTopologies topologies = {};
  std::vector<RankTeam> teams = {};
  // Measurements of the threads of each node, from which causes_of() in juggle_causes.h finds what
  // slows them down. On a node whose ranks all have one thread, the member `threads` is 0.
  std::vector<JuggleFacts> threads_of_node = {};
  /// Per node: the CPU time that other programs used on the cores where the run's ranks may run.
  /// An empty list means that the time is unknown for all nodes. 0 means that other programs used
  /// no CPU time on this node, or that their time is unknown.
  std::vector<double> others_s = {};
  bool knows_others = true;  // false: some of others_s are unknown, for example because a rank died
  std::vector<NodeQuota> quotas = {};  // per node; empty: unknown
  /// Number of messages that ranks sent to processes outside the run (spawned or joined by a rank).
  std::uint64_t messages_outside = 0;
  std::vector<bool> is_free = {};  // per rank: the kernel may move it between cores; empty: unknown
  bool are_slices = false;         // the phases are slices of time, not parts of the program
  bool knows_waiting = true;       // false: waiting was not measured, so `waited` may be 0
  /// False: a rank did not reach MPI_Finalize, so teams and others_s lack its threads and the other
  /// programs on its cores.
  bool knows_threads = true;
  std::uint32_t num_ranks() const { return node_of_rank.size(); }
};

/// Throws Error if there are no ranks or phases, if phases differ in the number of ranks, if
/// others_s or quotas is neither empty nor as long as the list of nodes, or if a time or a quota is
/// negative or not finite.
void check(const MeasuredRun& run);

/// Returns the run with only the phases of this name, or with all phases if the name is empty.
MeasuredRun part_named(const MeasuredRun& run, const std::string& name);

}  // namespace poise
