// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/measurements.h"

#include "runtimes/objects/collectives.h"

#include "poise/workload/merge.h"

namespace poise::objects {

Measurements gather_measurements(MPI_Comm comm, const Measurements& own, int root) {
  Measurements all;
  all.rows = gather_rows(comm, own.rows, root);
  all.messages = gather_rows(comm, own.messages, root);
  all.places = gather_rows(comm, own.places, root);
  all.num_subphases = own.num_subphases;
  if (own.num_subphases > 0) all.subphase_s = gather_rows(comm, own.subphase_s, root);
  return all;
}

void to_speed_1(Measurements& own, PlaceId first_place, std::span<const double> core_speeds) {
  auto seconds = own.subphase_s.begin();
  for (ObjectRow& row : own.rows) {
    const double speed = core_speeds[row.place - first_place];
    row.cpu_s *= speed;
    row.wall_s *= speed;
    for (std::uint32_t s = 0; s < own.num_subphases; ++s) *seconds++ *= speed;
  }
}

MeasuredPhase phase_of(const Measurements& all, ObjectId num_objects, std::uint32_t num_places,
                       bool use_wall_time, std::uint32_t threads_per_place) {
  if (all.rows.size() != num_objects)
    fail("objects: measurements of {} objects were gathered, but there are {} objects",
         all.rows.size(), num_objects);
  bool is_equal = all.subphase_s.size() == all.rows.size() * all.num_subphases;
  for (const PlaceRow& row : all.places) is_equal &= row.num_subphases == all.num_subphases;
  if (!is_equal)
    fail(
        "objects: ranks have measured different numbers of subphases; subphase_of_step must return "
        "the same number on all ranks");
  MeasuredPhase phase;
  Workload& workload = phase.workload;
  workload.tasks.resize(num_objects);
  std::vector<PlaceId> places(num_objects, num_places);
  const bool has_positions = !all.rows.empty() && all.rows.front().has_position != 0;
  if (has_positions) workload.positions.resize(num_objects);
  for (const ObjectRow& row : all.rows) {
    if (row.id >= num_objects || places[row.id] != num_places)
      fail("objects: object {} does not exist or was measured twice", row.id);
    workload.tasks[row.id] = {load_s_of(row, use_wall_time, threads_per_place), row.bytes,
                              row.movable != 0};
    places[row.id] = row.place;
    if (has_positions)
      workload.positions[row.id] = {row.position[0], row.position[1], row.position[2]};
  }
  if (all.num_subphases > 0) workload.subphase_load_s.resize(num_objects);
  if (all.num_subphases > 0) workload.subphase_rule = SubphaseRule::wait;
  for (std::size_t r = 0; r < all.rows.size() && all.num_subphases > 0; ++r) {
    const auto row = all.subphase_s.begin() + r * all.num_subphases;
    auto& loads_s = workload.subphase_load_s[all.rows[r].id];
    for (auto seconds = row; seconds != row + all.num_subphases; ++seconds)
      loads_s.push_back(*seconds / threads_per_place);
  }
  workload.loads_include = LoadsInclude::send;  // a step's time includes packing messages
  workload.messages = merged(num_objects, all.messages);
  workload.background_s.resize(num_places);
  for (const PlaceRow& row : all.places) workload.background_s[row.place] = row.background_s;
  phase.current = Placement(std::move(places));
  return phase;
}

}  // namespace poise::objects
