// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each environment variable without effect (see notes_on in
/// poise/base/variables.h). `readers` are the runtimes of the program. Only rank 0 of the
/// communicator prints, about its own environment, and only the first call in a process prints. If
/// a runtime starts another one (runtimes/objects may start runtimes/tasks), it must call this
/// function before the other one does, and pass both as `readers`; otherwise the other one's call
/// would report the first one's variables as without effect. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
