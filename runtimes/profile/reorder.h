// SPDX-License-Identifier: BSD-3-Clause
// Topologies that the program creates with reorder true: MPI_Cart_create, MPI_Graph_create,
// MPI_Dist_graph_create and _adjacent are passed a communicator whose ranks are reordered for the
// machine. Only if POISE_REORDER asks for it.
#pragma once

#include "runtimes/profile/profile_file.h"

namespace poise::profile {

struct Call;

/// What was reordered in this process.
Reorderings reorderings();

/// Whether the call is one of these, of at least two ranks that may be reordered. Cheap where not.
bool is_to_reorder(const Call& call) noexcept;

/// What stands in the place of the call's arguments while MPI runs it.
class Reordered;

/// Before the call is passed on; collective over the communicator that the program passed, and with
/// the call's arguments replaced if its ranks are reordered. Otherwise the call is left as it is.
void begin_reordering(Call& call) noexcept;
/// After it: the program's own arguments again.
void end_reordering(Call& call) noexcept;

}  // namespace poise::profile
