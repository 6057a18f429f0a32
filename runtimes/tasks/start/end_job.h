// SPDX-License-Identifier: BSD-3-Clause
// Ends a job because of a wrong user setting, of an Error that the program does not catch, or of a
// lack of memory: with one line on stderr and exit status 2.
#pragma once

#include <mpi.h>
#include <string>

namespace poise::tasks {

/// Returns if no rank passes an error. Otherwise ends the job with status 2, after the
/// communicator's first rank has printed the error of the lowest rank that passes one. If all ranks
/// of the job call this function, each in the thread that initialized MPI, they finalize MPI.
/// Otherwise the job is aborted, because MPI_Finalize would wait for the other ranks. Collective.
void end_job_on_error(MPI_Comm communicator, const std::string& error);

/// Ends the job. If every rank calls this function, rank 0 prints its error as one line and the job
/// exits with status 2. If only some ranks call it, each of these ranks prints its own error, and
/// after a short wait for the others the job is aborted.
[[noreturn]] void end_job(const std::string& error);

/// Calls MPI_Abort after a short pause, in which the launcher reads what this rank has printed.
[[noreturn]] void abort_job(MPI_Comm communicator, int status);

/// From now on, an Error that the program does not catch ends the job as end_job() does. Other
/// uncaught exceptions end the program as before.
void end_job_on_uncaught_errors();

}  // namespace poise::tasks
