// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each variable without effect (see notes_on in poise/base/variables.h), on rank
/// 0 of the communicator, from its environment. Only the first call in a process prints: a runtime
/// that uses another one (as objects with offloading use tasks) calls it first, because it knows
/// which variables are read. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
