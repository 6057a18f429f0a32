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

/// True if the call creates a topology of at least two ranks that may be reordered. For all other
/// MPI calls, this test is cheap.
bool is_to_reorder(const Call& call) noexcept;

/// The arguments that MPI gets instead of the program's own arguments while the call runs.
class Reordered;

/// To be called before the call. Collective over the communicator that the program passed. Replaces
/// the arguments if the ranks are reordered; otherwise leaves the call unchanged.
void begin_reordering(Call& call) noexcept;
/// To be called after the call. Restores the program's arguments.
void end_reordering(Call& call) noexcept;

}  // namespace poise::profile
