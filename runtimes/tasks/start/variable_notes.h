// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of environment variables that have no effect in this job.
#pragma once

#include <mpi.h>

namespace poise::tasks {

/// Prints a line for each environment variable without effect (see notes_on in
/// poise/base/variables.h). `readers` are the runtimes of the program. Only rank 0 of the
/// communicator prints, about its own environment, and only the first call in a process prints. If
/// a runtime starts another one (as objects may start tasks), it must call this function before the
/// other one does, and give both as readers; otherwise its own variables would be reported as
/// without effect. Not collective.
void note_variables(MPI_Comm communicator, unsigned readers);

}  // namespace poise::tasks
