// SPDX-License-Identifier: BSD-3-Clause
// Ends a job because of a wrong user setting, or an Error that the program does not catch: with one
// line on stderr and exit status 2.
#pragma once

#include <mpi.h>
#include <string>

namespace poise::tasks {

/// Returns if no rank passes an error. Otherwise all ranks exit with status 2, and the
/// communicator's first rank prints the error of the lowest rank that passes one. MPI is finalized
/// if all ranks of the job take part, each in the thread that initialized MPI. Otherwise the job is
/// aborted, because MPI_Finalize would wait for the other ranks. Collective.
void end_job_on_error(MPI_Comm communicator, const std::string& error);

/// From now on, an Error that the program does not catch ends the job. If it is uncaught on every
/// rank, rank 0 prints it as one line and the job exits with status 2. If errors are uncaught on
/// some ranks only, each of these ranks prints its own, and the job is aborted. Other uncaught
/// exceptions end the program as before.
void end_job_on_uncaught_errors();

}  // namespace poise::tasks
