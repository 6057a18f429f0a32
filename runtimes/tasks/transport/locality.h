// Where the ranks of a context are, and how far they are from one of them.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::tasks {

/// What a rank says of where it is.
struct RankLocation {
  std::uint64_t host = 0;    // a hash: ranks under one system and one name of a host
  std::int64_t domain = -1;  // the system's number of its memory domain; -1: of none that is known
};

/// Another rank, as one sees it.
struct PeerLocality {
  std::uint32_t group = 0;  // the lowest rank of its node, of this rank's own node of its domain
  double distance = 1;      // the Machine's factor between both domains; infinite to other nodes
};

/// All ranks, as one of them sees them.
struct Locality {
  std::vector<std::uint32_t> nodes;  // of each rank, the lowest on its node
  std::vector<PeerLocality> of_rank;
};

/// Collective. A rank on a node of several memory domains that may run in one of them only asks
/// poise::live_machine, once, how far the others are.
Locality discover_locality(MPI_Comm communicator);

/// The number of the one domain of the machine that has all of these processing units that it
/// knows; else -1.
std::int64_t domain_of(const Machine& machine, std::span<const std::uint32_t> units);

/// A rank that has no domain is as near as any of its node can be.
Locality locality_among(std::span<const RankLocation> ranks, std::uint32_t own_rank,
                        const Machine& machine);

}  // namespace poise::tasks
