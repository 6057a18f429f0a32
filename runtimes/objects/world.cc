#include "runtimes/objects/world.h"

#include <algorithm>
#include <sched.h>
#include <set>
#include <string>

#include "runtimes/objects/collect.h"

#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/machine/json.h"
#include "poise/machine/slots.h"
#include "poise/machine/text.h"

namespace poise::objects {

namespace {

/// What a rank knows of itself.
struct Seat {
  int host = 0;            // its lowest rank
  int core_os_index = -1;  // where it is bound to the processing units of one core; -1: it is not
  char host_name[MPI_MAX_PROCESSOR_NAME + 1] = "";
};

int bound_to() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  if (CPU_COUNT(&set) > 2) return -1;  // more than a core with two hardware threads
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) return cpu;
  return -1;
}

Seat own_seat(MPI_Comm comm, const WorldOptions& options) {
  Seat seat;
  int rank = 0, length = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Get_processor_name(seat.host_name, &length);
  seat.core_os_index = bound_to();
  seat.host = rank;
  if (options.ranks_per_host > 0) {
    seat.host = rank - rank % static_cast<int>(options.ranks_per_host);
    return seat;
  }
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Bcast(&seat.host, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  return seat;
}

// Between nodes when nobody measured it, as in machines from text.
constexpr double kAssumedNetworkFactor = 10;
// Of a message when nobody measured: it travels together with all others to its rank, so it costs
// its writing, copying and reading, far from what one costs that travels alone.
constexpr double kAssumedSecondsPerMessage = 5e-7, kAssumedSecondsPerByte = 2e-10;

/// The machine of rank 0's host, everywhere.
Machine node_of_first_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string json;
  try {
    if (rank == 0) json = machine_to_json(live_machine());
  } catch (const Error&) {  // hwloc cannot read it, or its measurement is of another machine
    json = machine_to_json(flat_machine(1));
  }
  return machine_from_json(broadcast(comm, std::move(json)), "the machine of the first rank");
}

Machine with_assumptions(const Machine& node) {
  MachineParts parts = node.parts();
  if (parts.network_source == Source::assumed) parts.network.factor = kAssumedNetworkFactor;
  if (parts.numa_source != Source::measured) {
    parts.costs.seconds_per_message = kAssumedSecondsPerMessage;
    parts.costs.seconds_per_byte = kAssumedSecondsPerByte;
  }
  return Machine(std::move(parts));
}

/// The places of the node for the slots of the ranks of one host, ascending or not.
std::vector<PlaceId> places_on(const Machine& node, const std::vector<Seat>& seats,
                               std::uint32_t places_per_rank) {
  const auto num_slots = static_cast<std::uint32_t>(seats.size()) * places_per_rank;
  std::vector<PlaceId> places;
  std::set<PlaceId> distinct;
  for (const Seat& seat : seats)
    for (PlaceId p = 0; p < node.num_places(); ++p)
      if (places_per_rank == 1 &&
          node.place(p).os_index == static_cast<std::uint32_t>(seat.core_os_index)) {
        places.push_back(p);
        distinct.insert(p);
      }
  if (places.size() == num_slots && distinct.size() == num_slots) return places;
  places.clear();
  for (std::uint64_t slot = 0; slot < num_slots; ++slot)
    places.push_back(static_cast<PlaceId>(
        num_slots <= node.num_places() ? slot : slot * node.num_places() / num_slots));
  return places;
}

}  // namespace

World discover_world(MPI_Comm comm, const WorldOptions& options) {
  World world;
  MPI_Comm_rank(comm, &world.rank);
  MPI_Comm_size(comm, &world.num_ranks);
  const std::vector<Seat> seats = to_all(comm, std::vector<Seat>{own_seat(comm, options)});

  std::vector<int> leaders;
  std::vector<std::string> names;
  for (const Seat& seat : seats) {
    auto known = std::find(leaders.begin(), leaders.end(), seat.host);
    if (known == leaders.end()) {
      known = leaders.insert(known, seat.host);
      names.emplace_back(seat.host_name);
    }
    world.host_of_rank.push_back(static_cast<std::uint32_t>(known - leaders.begin()));
  }
  world.num_hosts = static_cast<std::uint32_t>(leaders.size());

  struct Slot {
    PlaceId place;
    int rank;
  };
  const Machine node = with_assumptions(node_of_first_rank(comm));
  std::vector<Slot> slots;
  for (std::uint32_t host = 0; host < world.num_hosts; ++host) {
    std::vector<int> ranks;
    std::vector<Seat> seats_here;
    for (int r = 0; r < world.num_ranks; ++r)
      if (world.host_of_rank[static_cast<std::size_t>(r)] == host) {
        ranks.push_back(r);
        seats_here.push_back(seats[static_cast<std::size_t>(r)]);
      }
    const std::vector<PlaceId> places = places_on(node, seats_here, options.places_per_rank);
    for (std::size_t i = 0; i < places.size(); ++i)
      slots.push_back({host * node.num_places() + places[i], ranks[i / options.places_per_rank]});
  }
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.place < b.place; });
  std::vector<PlaceId> places;
  world.places_of_rank.resize(static_cast<std::size_t>(world.num_ranks));
  for (const Slot& slot : slots) {
    world.places_of_rank[static_cast<std::size_t>(slot.rank)].push_back(
        static_cast<PlaceId>(places.size()));
    places.push_back(slot.place);
    world.rank_of_place.push_back(slot.rank);
  }
  world.machine = slots_of(world.num_hosts > 1 ? cluster_of(node, names) : node, places);
  return world;
}

}  // namespace poise::objects
