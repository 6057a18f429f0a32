// SPDX-License-Identifier: BSD-3-Clause
// Checks MPI, the settings of all ranks and the path of the trace file when a context starts.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/tasks/context.h"

#include "poise/base/knobs.h"

namespace poise::tasks {

/// Maximum number of threads of a rank.
inline constexpr unsigned kMaxThreads = 4096;

/// Throws Error unless MPI is initialized with at least MPI_THREAD_FUNNELED and `communicator` is
/// an intracommunicator.
void check_mpi(MPI_Comm communicator);
/// The level at which MPI runs: MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE.
int thread_level();
bool may_any_thread_call();
bool is_main_thread();

/// True if this context runs a progress thread. By default it runs one if lending is on and MPI
/// provides MPI_THREAD_MULTIPLE, so that this thread and the tasks may call MPI at the same time.
bool wants_progress_thread(const Knobs& settings);

/// The program's settings, overridden by the environment. Collective. Some settings must be equal
/// on all ranks. Throws Error on all ranks if, on any rank, a setting of the program is wrong or
/// differs where it must be equal. Ends the job if a setting of the environment is wrong or differs
/// where it must be equal.
Knobs agreed_settings(MPI_Comm communicator, const ContextOptions& options);

/// Returns the path of the trace of a new context, or an empty path if no trace is wanted. The path
/// is the value of POISE_TASKS_TRACE on rank 0 of `communicator`. If that process is not rank 0 of
/// MPI_COMM_WORLD, its rank there is appended to the path. For every context but the first, the
/// number of the context is appended as well. Ends the job if the file cannot be written.
/// Collective.
std::string next_trace_path(MPI_Comm communicator);

}  // namespace poise::tasks
