// SPDX-License-Identifier: BSD-3-Clause
// The measurements of the ranks in a phase, and their conversion to the input of a strategy.
#pragma once

#include <mpi.h>
#include <span>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/mail.h"

#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise::objects {

/// The measurements of one object in one phase.
struct ObjectRow {
  ObjectId id = 0;
  PlaceId place = 0;
  double cpu_s = 0, wall_s = 0;  // sums over all steps of the object
  std::uint64_t bytes = 0;       // serialized size
  double position[3] = {};
  std::uint32_t movable = 1, has_position = 0;
};

/// The measurements of one place in one phase.
struct PlaceRow {
  PlaceId place = 0;
  double background_s = 0;  // CPU time outside of objects, for example delivering messages
  double idle_s = 0;        // wall time spent waiting
  std::uint32_t num_subphases = 0;
};

/// The measurements of one rank, or of several ranks together.
struct Measurements {
  std::vector<ObjectRow> rows;
  std::vector<Message> messages;  // messages that these objects sent
  std::vector<PlaceRow> places;
  std::uint32_t num_subphases = 0;  // 0: loads are not measured by subphase
  std::vector<double> subphase_s;   // num_subphases loads per object, in the order of rows
};

/// The load of an object: wall or CPU seconds divided by the number of threads per place.
inline double load_s_of(const ObjectRow& row, bool use_wall_time, std::uint32_t threads_per_place) {
  return (use_wall_time ? row.wall_s : row.cpu_s) / threads_per_place;
}

/// Converts the loads of this rank's objects to seconds on a core of speed 1. `core_speeds` has the
/// speed of a core for each place of the rank, from `first_place` on.
void to_speed_1(Measurements& own, PlaceId first_place, std::span<const double> core_speeds);

/// Gathers the measurements of all ranks at `root`, or at every rank (kEveryRank). Collective.
Measurements gather_measurements(MPI_Comm comm, const Measurements& own, int root);

using balance::MeasuredPhase;

/// Sorts the measurements of all ranks by task and place. Throws Error unless every object appears
/// exactly once and has a load for each subphase.
MeasuredPhase phase_of(const Measurements& all, ObjectId num_objects, std::uint32_t num_places,
                       bool use_wall_time, std::uint32_t threads_per_place);

}  // namespace poise::objects
