// SPDX-License-Identifier: BSD-3-Clause
// What the preloaded library asks libpoise_reorder.so, which one rank loads when it has to decide:
// programs whose ranks are not reordered do not carry the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtimes/profile/rank_site.h"
#include "runtimes/profile/topology_edges.h"

namespace poise::profile {

/// Ranks are those of the communicator that the program passed.
struct ReorderRequest {
  const RankSite* sites = nullptr;           // per rank
  const std::int32_t* world_rank = nullptr;  // per rank: in MPI_COMM_WORLD
  std::size_t num_ranks = 0;
  const TopologyEdge* edges = nullptr;  // between ranks of the new communicator
  std::size_t num_edges = 0;
  /// As `poise topo` understands it, for ranks of MPI_COMM_WORLD on its places in order; null: as
  /// the sites tell.
  const char* machine = nullptr;
};

struct ReorderAnswer {
  std::int32_t* rank_at = nullptr;  // per rank of the new communicator, the old one; to be filled
  double before = 0, after = 0;     // sum over edges of weight times hops
  char reason[256] = {};            // why ranks keep their order, in words
};

/// False: ranks keep their order. Never throws.
using Reorder = bool (*)(const ReorderRequest*, ReorderAnswer*);
inline constexpr const char* kReorderSymbol = "poise_reorder";
inline constexpr const char* kReorderLibrary = "libpoise_reorder.so";

}  // namespace poise::profile
