// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each variable without effect (see notes_on in poise/base/variables.h). Only
/// rank 0 of the communicator prints, from its own environment, and only the first call in a
/// process. A runtime that uses another one (as objects with offloading use tasks) calls this
/// function first, because it knows all variables that are read. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
