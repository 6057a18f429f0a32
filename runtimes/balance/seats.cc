#include "runtimes/balance/seats.h"

#include <algorithm>
#include <sched.h>
#include <set>

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/machine/slots.h"
#include "poise/machine/text.h"

namespace poise::balance {

namespace {

// Between nodes when nobody measured it, as in machines from text.
constexpr double kAssumedNetworkFactor = 10;
// Of a message between processes of a host: it travels together with all others to its rank, so it
// costs its writing, copying and reading: less than one that travels alone, and more than reading
// memory, which is what a measurement of a host alone knows of.
constexpr double kAssumedSecondsPerMessage = 5e-7, kAssumedSecondsPerByte = 2e-10;

/// The places of the node for the slots of the seats of one host, ascending or not.
std::vector<PlaceId> places_on(const Machine& node, std::span<const Seat> seats,
                               std::uint32_t places_per_seat) {
  const auto num_slots = static_cast<std::uint32_t>(seats.size()) * places_per_seat;
  std::vector<PlaceId> places;
  std::set<PlaceId> distinct;
  for (const Seat& seat : seats)
    for (PlaceId p = 0; p < node.num_places(); ++p)
      if (places_per_seat == 1 &&
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

std::int32_t bound_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  if (CPU_COUNT(&set) > 2) return -1;  // more than a core with two hardware threads
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) return cpu;
  return -1;
}

Machine own_node() {
  try {
    return live_machine();
  } catch (const Error&) {  // hwloc cannot read it, or its measurement is of another machine
    return flat_machine(1);
  }
}

Machine with_assumptions(const Machine& node) {
  MachineParts parts = node.parts();
  const bool knows_network = parts.network_source != Source::assumed;
  if (knows_network && parts.numa_source == Source::measured) return node;
  if (!knows_network) parts.network.factor = kAssumedNetworkFactor;
  parts.costs.seconds_per_message = kAssumedSecondsPerMessage;
  parts.costs.seconds_per_byte = kAssumedSecondsPerByte;
  for (Level& level : parts.levels) level.latency_factor = std::max(level.latency_factor, 1.0);
  return Machine(std::move(parts));
}

Seated seated(const Machine& node, std::span<const Seat> seats,
              std::span<const std::string> host_names, std::uint32_t places_per_seat) {
  struct Slot {
    PlaceId place;
    std::uint32_t seat;
  };
  std::vector<std::vector<std::uint32_t>> seats_of_host(host_names.size());
  for (std::uint32_t i = 0; i < seats.size(); ++i) seats_of_host.at(seats[i].host).push_back(i);
  std::vector<Slot> slots;
  for (std::uint32_t host = 0; host < seats_of_host.size(); ++host) {
    std::vector<Seat> seats_here;
    for (const std::uint32_t i : seats_of_host[host]) seats_here.push_back(seats[i]);
    const std::vector<PlaceId> places = places_on(node, seats_here, places_per_seat);
    for (std::size_t i = 0; i < places.size(); ++i)
      slots.push_back(
          {host * node.num_places() + places[i], seats_of_host[host][i / places_per_seat]});
  }
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.place < b.place; });
  Seated result;
  std::vector<PlaceId> places;
  for (const Slot& slot : slots) {
    places.push_back(slot.place);
    result.seat_of_place.push_back(slot.seat);
  }
  result.machine = slots_of(host_names.size() > 1 ? cluster_of(node, host_names) : node, places);
  return result;
}

}  // namespace poise::balance
