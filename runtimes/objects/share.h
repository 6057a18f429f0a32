// What ranks measured in a phase, and the problem that all of it makes together.
#pragma once

#include <mpi.h>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/mail.h"

#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise::objects {

/// One object in one phase.
struct Row {
  ObjectId id = 0;
  PlaceId place = 0;
  double cpu_s = 0, wall_s = 0;  // of all its steps
  std::uint64_t bytes = 0;       // serialized
  double position[3] = {};
  std::uint32_t movable = 1, has_position = 0;
};

/// One place in one phase: what it did for nobody in particular, and how long it waited.
struct PlaceRow {
  PlaceId place = 0;
  double background_s = 0, idle_s = 0;
};

/// What one rank knows, or several together.
struct Share {
  std::vector<Row> rows;
  std::vector<Message> messages;  // sent by these objects
  std::vector<PlaceRow> places;
  std::uint32_t num_subphases = 0;  // 0: loads are not divided among them
  std::vector<double> subphase_s;   // so many of each row, one row after the other
};

/// The shares of all ranks, at `root`, or everywhere where root is below 0. Collective.
Share gathered(MPI_Comm comm, const Share& own, int root);

using balance::Census;

/// Everything in order of task and place, whatever the order of the rows. Loads are wall or CPU
/// seconds over the threads of a place. Throws Error unless each of the objects is there once.
Census census_of(const Share& all, ObjectId num_objects, std::uint32_t num_places, bool wall,
                 std::uint32_t threads_per_place);

}  // namespace poise::objects
