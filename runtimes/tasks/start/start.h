// What a context checks when it starts: MPI, its settings on all ranks, and its trace file.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/tasks/context.h"

#include "poise/base/knobs.h"

namespace poise::tasks {

/// Throws Error unless MPI is initialized with at least MPI_THREAD_FUNNELED.
void check_mpi();
/// MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE.
int thread_level();
bool may_any_thread_call();
bool is_main_thread();

/// By default the progress thread runs only with MPI_THREAD_MULTIPLE, where tasks may call MPI at
/// the same time.
bool wants_progress_thread(const Knobs& settings);

/// The program's settings, overridden by the environment. Collective. Throws Error on all ranks if
/// the program's settings are wrong on some rank, or differ between ranks where they must not. Ends
/// the job if those of the environment are wrong or differ.
Knobs agreed_settings(MPI_Comm communicator, const Options& options);

/// The file for a trace, by POISE_TASKS_TRACE of the communicator's rank 0; empty: no trace. If
/// that rank is not rank 0 of the job, its number is appended; so is the number of the context
/// after the first. Ends the job if the file cannot be written. Collective.
std::string next_trace_path(MPI_Comm communicator);

}  // namespace poise::tasks
