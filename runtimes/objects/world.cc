#include "runtimes/objects/world.h"

#include <algorithm>
#include <string>

#include "runtimes/balance/job_machine.h"
#include "runtimes/objects/collectives.h"

#include "poise/machine/json.h"

namespace poise::objects {

namespace {

/// What a rank knows of itself.
struct RankSeat {
  int leader = 0;  // the lowest rank of its host
  std::int32_t core_os_index = -1;
  char host_name[MPI_MAX_PROCESSOR_NAME + 1] = "";
};

RankSeat own_seat(MPI_Comm comm, const WorldOptions& options) {
  RankSeat seat;
  int rank = 0, length = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Get_processor_name(seat.host_name, &length);
  seat.core_os_index = balance::bound_core();
  seat.leader = rank;
  if (options.ranks_per_host > 0) {
    seat.leader = rank - rank % static_cast<int>(options.ranks_per_host);
    return seat;
  }
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Bcast(&seat.leader, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  return seat;
}

/// The machine of rank 0's host, everywhere.
Machine node_of_first_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string json;
  if (rank == 0) json = machine_to_json(balance::own_node());
  return machine_from_json(broadcast_text(comm, std::move(json)), "the machine of the first rank");
}

}  // namespace

World discover_world(MPI_Comm comm, const WorldOptions& options) {
  World world;
  MPI_Comm_rank(comm, &world.rank);
  MPI_Comm_size(comm, &world.num_ranks);
  const std::vector<RankSeat> ranks =
      allgather_rows(comm, std::vector<RankSeat>{own_seat(comm, options)});

  std::vector<int> leaders;
  std::vector<std::string> names;
  std::vector<balance::ProcessLocation> seats;
  for (const RankSeat& rank : ranks) {
    auto known = std::find(leaders.begin(), leaders.end(), rank.leader);
    if (known == leaders.end()) {
      known = leaders.insert(known, rank.leader);
      names.emplace_back(rank.host_name);
    }
    world.host_of_rank.push_back(static_cast<std::uint32_t>(known - leaders.begin()));
    seats.push_back({world.host_of_rank.back(), rank.core_os_index});
  }
  world.num_hosts = static_cast<std::uint32_t>(leaders.size());

  balance::JobMachine seated = balance::job_machine(
      balance::with_assumptions(node_of_first_rank(comm)), seats, names, options.places_per_rank);
  world.places_of_rank.resize(static_cast<std::size_t>(world.num_ranks));
  for (const std::uint32_t rank : seated.seat_of_place) {
    world.places_of_rank[rank].push_back(static_cast<PlaceId>(world.rank_of_place.size()));
    world.rank_of_place.push_back(static_cast<int>(rank));
  }
  world.machine = std::move(seated.machine);
  return world;
}

}  // namespace poise::objects
