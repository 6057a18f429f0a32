// What a context asks of MPI, and of all ranks, before it exists.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/tasks/context.h"

#include "poise/base/knobs.h"

namespace poise::tasks {

/// Throws Error unless MPI is up, with threads.
void check_mpi();
/// As MPI names it: MPI_THREAD_FUNNELED, …
int thread_level();
bool may_any_thread_call();
bool is_main_thread();

/// Left to us, the helper runs only where the program's tasks may call MPI at the same time.
bool wants_progress_thread(const Knobs& settings);

/// The settings of the program, changed by the environment. Collective. Throws Error on all ranks
/// if the program's are wrong on any rank, or differ where they must be equal. Ends the job if the
/// environment's are or do.
Knobs agreed_settings(MPI_Comm communicator, const Options& options);

/// The file for a trace, empty if none is wanted: rank 0's variable; who leads another communicator
/// than the first rank of all adds its number, and a job's later contexts theirs. Ends the job if
/// the file cannot be written. Collective.
std::string next_trace_path(MPI_Comm communicator);

}  // namespace poise::tasks
