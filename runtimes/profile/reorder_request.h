// SPDX-License-Identifier: BSD-3-Clause
// The interface between the preloaded library and libpoise_reorder.so. Only a rank that decides an
// order of ranks loads libpoise_reorder.so; without reordering, no rank loads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtimes/profile/rank_site.h"
#include "runtimes/profile/topology_edges.h"

namespace poise::profile {

/// The input of the decision. Arrays with one element per rank are indexed by ranks of the
/// communicator that the program passed.
struct ReorderRequest {
  const RankSite* sites = nullptr;           // per rank
  const std::int32_t* world_rank = nullptr;  // per rank: its rank in MPI_COMM_WORLD
  std::size_t num_ranks = 0;
  const TopologyEdge* edges = nullptr;  // edges between ranks of the new communicator
  std::size_t num_edges = 0;
  /// A machine as `poise topo` reads it; rank r of MPI_COMM_WORLD is at place r of the machine. If
  /// the text is empty, or the machine is not valid for these ranks, a machine is built from
  /// `sites`.
  const char* machine = "";
};

struct ReorderAnswer {
  /// An array to be filled: for each rank of the new communicator, its rank in the old one.
  std::int32_t* rank_at = nullptr;
  /// The weight of each edge times its hops, summed over all edges: with the old order of the
  /// ranks, and with the new one.
  double before = 0, after = 0;
  char reason[256] = {};  // why ranks keep their order, in words
};

/// Returns false if ranks keep their order. Never throws.
using Reorder = bool (*)(const ReorderRequest*, ReorderAnswer*);
inline constexpr const char* kReorderSymbol = "poise_reorder";

/// Returns false and sets the answer's reason if the machine does not exist or has too few places
/// for the ranks of MPI_COMM_WORLD. Never throws.
using CheckMachine = bool (*)(const char* machine, std::size_t num_ranks, ReorderAnswer*);
inline constexpr const char* kCheckMachineSymbol = "poise_reorder_check_machine";

inline constexpr const char* kReorderLibrary = "libpoise_reorder.so";

}  // namespace poise::profile
