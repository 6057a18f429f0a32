// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_slots.h"

#include <algorithm>

#include "poise/base/error.h"

namespace poise {

namespace {

void check(const RankShape& shape) {
  if (shape.cores_per_rank == 0) fail("a rank has 0 cores; it needs at least 1");
  if (shape.ranks_per_place == 0) fail("a place takes 0 ranks; it must take at least 1");
  if (shape.cores_per_rank > 1 && shape.ranks_per_place > 1)
    fail(
        "{} ranks per place with {} cores per rank: only ranks with one core can share a place; "
        "set one of the two numbers to 1",
        shape.ranks_per_place, shape.cores_per_rank);
}

/// Appends the slots of the places [first, last).
void add_slots(PlaceId first, PlaceId last, const RankShape& shape, std::vector<PlaceId>& slots) {
  for (PlaceId place = first; last - place >= shape.cores_per_rank; place += shape.cores_per_rank)
    slots.insert(slots.end(), shape.ranks_per_place, place);
}

}  // namespace

std::vector<PlaceId> rank_slots(const Machine& machine, std::uint32_t ranks, const RankShape& given,
                                const Placement* start) {
  check(given);
  RankShape shape = given;
  // No place needs more slots than there are ranks.
  shape.ranks_per_place = std::min(shape.ranks_per_place, std::max(ranks, 1u));
  std::vector<std::uint8_t> is_used(machine.num_nodes(), 0);
  if (start != nullptr)
    for (const PlaceId place : start->places()) is_used[machine.node_of_place(place)] = 1;
  std::vector<PlaceId> slots;
  for (NodeId node = 0; node < machine.num_nodes(); ++node) {
    if (slots.size() >= ranks && is_used[node] == 0) continue;
    const std::size_t before = slots.size();
    for (DomainId d = machine.first_domain(node); d < machine.first_domain(node + 1); ++d)
      add_slots(machine.first_place(d), machine.first_place(d + 1), shape, slots);
    if (slots.size() == before)
      add_slots(machine.first_place(machine.first_domain(node)),
                machine.first_place(machine.first_domain(node + 1)), shape, slots);
  }
  if (slots.size() < ranks)
    fail(
        "{} ranks with {} core{} each do not fit on machine \"{}\": its {} places hold only {} "
        "such ranks; use a larger machine. Ranks with one core can also share places "
        "(ranks_per_place in libpoise, --capacity in poise map)",
        ranks, shape.cores_per_rank, shape.cores_per_rank == 1 ? "" : "s", machine.name(),
        machine.num_places(), slots.size());
  if (shape.fills_nodes) slots.resize(ranks);
  return slots;
}

}  // namespace poise
