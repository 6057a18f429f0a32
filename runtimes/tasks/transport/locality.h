// SPDX-License-Identifier: BSD-3-Clause
// The locality of ranks: the node and memory domain of each, and its distance from this rank.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/online/link_model.h"

namespace poise::tasks {

/// The location of a rank.
struct RankLocation {
  std::uint64_t host = 0;  // a hash of the host's name and its system's boot id
  // The operating system's index of the memory domain to which the rank is bound, or -1 if this
  // domain is unknown or the rank is bound to several.
  std::int64_t domain = -1;
};

/// The locations of all ranks, seen from this rank.
struct Locality {
  std::vector<std::uint32_t> nodes;  // for each rank, the lowest rank on its node
  std::vector<PeerLocality> of_rank;

  /// Returns the ranks on the node of `rank`, in ascending order.
  std::vector<std::uint32_t> node_of(std::uint32_t rank) const;
};

/// Collective. If the node has several memory domains and this rank is bound to one, the distances
/// to the other domains come from poise::live_machine, which is called once per process.
Locality discover_locality(MPI_Comm communicator);

/// Returns the memory domain that contains all of these processing units, or -1 if they are in
/// several domains or `machine` contains none of them.
std::int64_t domain_of(const Machine& machine, std::span<const std::uint32_t> units);

/// Computes the locality; a rank without a known domain has distance 1 to all ranks of its node.
Locality locality_among(std::span<const RankLocation> ranks, std::uint32_t own_rank,
                        const Machine& machine);

}  // namespace poise::tasks
