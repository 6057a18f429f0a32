// How a job ends whose user set something that cannot be: one line, and exit status 2.
#pragma once

#include <mpi.h>
#include <string>

namespace poise::tasks {

/// Does nothing where no rank gives an error. Else all ranks end with exit status 2, and the first
/// rank of the communicator prints the error of the first rank that gives one. MPI is finalized if
/// all ranks of the job take part, each in the thread that started MPI; else it is aborted, since
/// MPI_Finalize would wait for the others. Collective.
void end_job_on_error(MPI_Comm communicator, const std::string& error);

}  // namespace poise::tasks
