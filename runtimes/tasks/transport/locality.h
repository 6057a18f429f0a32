// The locality of ranks: on which node and in which memory domain each is, and how far from this
// one.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::tasks {

/// Where a rank runs.
struct RankLocation {
  std::uint64_t host = 0;    // a hash of the host name and the boot id of its system
  std::int64_t domain = -1;  // its memory domain, as the system numbers it; -1: unknown or several
};

/// Where another rank is, seen from this one.
struct PeerLocality {
  std::uint32_t group = 0;  // the lowest rank on its node; on this node, in its memory domain
  double distance =
      1;  // latency factor between both domains by the Machine; infinite to other nodes
};

/// Where all ranks are, seen from this one.
struct Locality {
  std::vector<std::uint32_t> nodes;  // by rank: the lowest rank on its node
  std::vector<PeerLocality> of_rank;
};

/// Collective. If the node has several memory domains and this rank is bound to one, the distances
/// to the others come from poise::live_machine, which is called once per process.
Locality discover_locality(MPI_Comm communicator);

/// The memory domain that contains all of these processing units; -1 if they are in several, or the
/// machine knows none of them.
std::int64_t domain_of(const Machine& machine, std::span<const std::uint32_t> units);

/// A rank without a domain has distance 1 to all ranks of its node.
Locality locality_among(std::span<const RankLocation> ranks, std::uint32_t own_rank,
                        const Machine& machine);

}  // namespace poise::tasks
