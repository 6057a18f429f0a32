// SPDX-License-Identifier: BSD-3-Clause
// The counters of all ranks as a table.
#pragma once

#include <mpi.h>
#include <string>

#include "runtimes/tasks/counters.h"

namespace poise::tasks {

/// Returns one line per rank, at most kMaxSummaryLines; the text is empty except on rank 0.
/// Collective.
std::string summary_of(MPI_Comm communicator, const Counters& counters);

}  // namespace poise::tasks
