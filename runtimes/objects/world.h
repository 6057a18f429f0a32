// Where the ranks of a communicator are: hosts, places, and the machine they make up.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::objects {

/// The same on every rank. A rank has one place, or one per thread; places are numbered along the
/// machine, so that those of a host follow one another.
struct World {
  int rank = 0, num_ranks = 1;
  Machine machine;
  std::vector<int> rank_of_place;
  std::vector<std::vector<PlaceId>> places_of_rank;  // in order of thread
  std::vector<std::uint32_t> host_of_rank;           // numbered by their first ranks
  std::uint32_t num_hosts = 1;

  const std::vector<PlaceId>& own_places() const {
    return places_of_rank[static_cast<std::size_t>(rank)];
  }
  int rank_of(PlaceId p) const { return rank_of_place[p]; }
};

struct WorldOptions {
  std::uint32_t places_per_rank = 1;
  /// So many consecutive ranks make a host; 0: those that share memory, as MPI sees it.
  std::uint32_t ranks_per_host = 0;
};

/// Collective. The node is that of rank 0, with its measured factors where `poise measure` left
/// them; all hosts are taken to be like it. A rank bound to one core has the place of that core,
/// others fill their host in order.
World discover_world(MPI_Comm comm, const WorldOptions& options);

}  // namespace poise::objects
