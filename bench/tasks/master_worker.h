// SPDX-License-Identifier: BSD-3-Clause
// A master and workers, as users write them by hand to share out the tasks of one rank: rank 0
// sends a task to each worker, and another one for each result that returns. Between two polls,
// rank 0 runs a task itself.
#pragma once

#include "bench/tasks/peer_case.h"

namespace poise::bench {

/// Runs all tasks of rank 0. Collective over MPI_COMM_WORLD; the other ranks only use the sizes in
/// `tasks`.
void run_by_master_and_workers(PeerTasks& tasks, const TaskBody& body);

}  // namespace poise::bench
