// SPDX-License-Identifier: BSD-3-Clause
// The hosts, ranks and places of a job, and the machine that they form.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::objects {

/// The layout of the job. All members except `rank` are equal on all ranks. A rank has one place,
/// or one place per thread. The places of a host have consecutive ids.
struct JobLayout {
  int rank = 0, num_ranks = 1;
  Machine machine;
  std::vector<int> rank_of_place;
  /// The places of each rank, in order of its threads.
  std::vector<std::vector<PlaceId>> places_of_rank;
  // Hosts are numbered in the order of their lowest ranks.
  std::vector<std::uint32_t> host_of_rank;
  std::uint32_t num_hosts = 1;
  /// For each place of this rank, the speed of a core there. The speed of a place also depends on
  /// its number of threads.
  std::vector<double> core_speeds;
  /// The largest number of threads of any place; places with fewer threads are slower.
  std::uint32_t threads_per_place = 1;

  const std::vector<PlaceId>& own_places() const { return places_of_rank[rank]; }
  int rank_of(PlaceId p) const { return rank_of_place[p]; }

  // When all ranks decide together, each rank is identified by its position: its index in the list
  // of all ranks, ordered by their places. The places of a rank have consecutive ids.
  std::uint32_t places_per_rank() const { return own_places().size(); }
  int rank_at(std::uint32_t position) const { return rank_of_place[position * places_per_rank()]; }
  std::uint32_t position_of(int of_rank) const {
    return places_of_rank[of_rank][0] / places_per_rank();
  }
};

struct LayoutOptions {
  std::uint32_t places_per_rank = 1;
  /// The number of consecutive ranks that count as one host. With 0, the ranks that share memory
  /// count as one host.
  std::uint32_t ranks_per_host = 0;
};

/// Finds the layout of a communicator. All hosts are assumed to look like that of rank 0. If `poise
/// measure` has run on that host, the communication costs that it measured are used. A rank bound
/// to one core gets the place of that core; other ranks get the places of their host in order.
/// Collective.
JobLayout discover_layout(MPI_Comm comm, const LayoutOptions& options);

/// Stores how many threads each rank has, in a job in which each rank is one place. Makes the
/// speeds of the places proportional to their numbers of threads.
void set_threads(JobLayout& layout, const std::vector<int>& threads_of_rank);

using World = JobLayout;  // deprecated name

}  // namespace poise::objects
