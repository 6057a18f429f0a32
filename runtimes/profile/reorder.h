// SPDX-License-Identifier: BSD-3-Clause
// Reorders the ranks of topologies that the program creates with reorder = true. MPI_Cart_create,
// MPI_Graph_create, MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent get a communicator
// whose ranks are ordered for the machine. Active only if POISE_REORDER is set.
#pragma once

#include <string>

#include "runtimes/profile/profile_file.h"

namespace poise::profile {

struct Call;

/// The topologies that were reordered in this process.
Reorderings reorderings();

/// Returns an error text if POISE_REORDER_MACHINE is wrong for a job of this many ranks. Returns an
/// empty text if it is right, or if no ranks are reordered.
std::string trouble_with_machine(int num_ranks);

/// True if `call` creates a topology, and both the program and POISE_REORDER allow reordering its
/// ranks. For calls of other MPI functions, this test is cheap.
bool is_to_reorder(const Call& call) noexcept;

/// The arguments that MPI gets instead of the program's own arguments while the call runs.
class Reordered;

/// To be called before the program's call that creates a topology is passed on to MPI. Replaces its
/// arguments if the ranks are reordered, otherwise leaves them unchanged. Collective over the
/// communicator that the program passed.
void begin_reordering(Call& call) noexcept;
/// To be called when MPI has returned from a call. If its arguments were replaced, restores those
/// of the program.
void end_reordering(Call& call) noexcept;

}  // namespace poise::profile
