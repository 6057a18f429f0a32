// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each (notes_on of poise/base/variables.h), on rank 0 of the communicator, from
/// its environment. Only the first call of a process does: a runtime that uses another one, as
/// objects that lend use tasks, calls it first and knows what is read. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
