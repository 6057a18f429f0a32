// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each environment variable that has no effect in this job (see notes_on in
/// poise/base/variables.h). `readers` are the runtimes of the program. Only rank 0 of the
/// communicator prints, about its own environment, and only in the first call of its process. If a
/// runtime starts another one (runtimes/objects may start runtimes/tasks), it must call this
/// function first, with both runtimes as `readers`. Otherwise the other runtime would report that
/// variables of the first one have no effect. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
