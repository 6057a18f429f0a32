// The counters of all ranks on one screen.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/tasks/counters.h"

namespace poise::tasks {

/// A table with a line per rank, the first ones of many; empty except on rank 0. Collective.
std::string summary_of(MPI_Comm communicator, const Counters& counters);

}  // namespace poise::tasks
