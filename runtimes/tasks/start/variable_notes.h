// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each environment variable without effect (see notes_on in
/// poise/base/variables.h). `readers` are the runtimes of the program. Only rank 0 of the
/// communicator prints, about its own environment, and only the first call in a process prints. If
/// an outer runtime starts an inner one (runtimes/objects may start runtimes/tasks), the outer one
/// must call this function first, with both runtimes as `readers`. Otherwise the call of the inner
/// one would report that the variables of the outer one have no effect. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
