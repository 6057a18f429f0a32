// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/job_layout.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtimes/balance/job_machine.h"
#include "runtimes/objects/collectives.h"

#include "poise/machine/json.h"

namespace poise::objects {

namespace {

/// The location of a rank in the job.
struct RankLocation {
  int leader = 0;  // the lowest rank on its host
  std::int32_t core_os_index = -1;
  char host_name[MPI_MAX_PROCESSOR_NAME + 1] = "";
};

RankLocation own_location(MPI_Comm comm, const LayoutOptions& options) {
  RankLocation location;
  int rank = 0, length = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Get_processor_name(location.host_name, &length);
  location.core_os_index = balance::bound_core();
  location.leader = rank;
  if (options.ranks_per_host > 0) {
    location.leader = rank - rank % static_cast<int>(options.ranks_per_host);
    return location;
  }
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Bcast(&location.leader, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  return location;
}

/// Returns the machine of rank 0's host on every rank. Collective.
Machine node_of_first_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string json;
  if (rank == 0) json = machine_to_json(balance::own_node());
  return machine_from_json(broadcast_text(comm, std::move(json)), "the machine of rank 0");
}

}  // namespace

JobLayout discover_layout(MPI_Comm comm, const LayoutOptions& options) {
  JobLayout layout;
  MPI_Comm_rank(comm, &layout.rank);
  MPI_Comm_size(comm, &layout.num_ranks);
  const std::vector<RankLocation> ranks =
      allgather_rows(comm, std::vector<RankLocation>{own_location(comm, options)});

  std::vector<int> leaders;
  std::vector<std::string> names;
  std::vector<balance::ProcessLocation> processes;
  for (const RankLocation& rank : ranks) {
    auto known = std::find(leaders.begin(), leaders.end(), rank.leader);
    if (known == leaders.end()) {
      known = leaders.insert(known, rank.leader);
      names.emplace_back(rank.host_name);
    }
    layout.host_of_rank.push_back(known - leaders.begin());
    processes.push_back({layout.host_of_rank.back(), rank.core_os_index});
  }
  layout.num_hosts = leaders.size();

  balance::JobMachine job =
      balance::job_machine(balance::with_assumptions(node_of_first_rank(comm)), processes, names,
                           options.places_per_rank);
  layout.places_of_rank.resize(layout.num_ranks);
  for (const std::uint32_t rank : job.process_of_place) {
    layout.places_of_rank[rank].push_back(layout.rank_of_place.size());
    layout.rank_of_place.push_back(rank);
  }
  layout.machine = std::move(job.machine);
  for (const PlaceId p : layout.own_places())
    layout.core_speeds.push_back(layout.machine.speed_of(p));
  return layout;
}

void set_threads(JobLayout& layout, const std::vector<int>& threads_of_rank) {
  const auto [fewest, most] = std::minmax_element(threads_of_rank.begin(), threads_of_rank.end());
  layout.threads_per_place = *most;
  if (*fewest == *most) return;
  MachineParts parts = layout.machine.parts();
  for (PlaceId p = 0; p < parts.places.size(); ++p)
    parts.places[p].speed *= static_cast<double>(threads_of_rank[layout.rank_of(p)]) / *most;
  layout.machine = Machine(std::move(parts));
}

}  // namespace poise::objects
