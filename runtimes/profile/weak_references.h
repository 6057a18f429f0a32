// SPDX-License-Identifier: BSD-3-Clause
// Programs that are built for several MPIs, such as mpi4py, refer weakly to functions that not
// every MPI has, and call them only if their address is not null. This library defines all MPI
// functions, so it must set the addresses of functions that the loaded MPI lacks to null.
#pragma once

namespace poise::profile {

/// Sets a weak reference of the program to an MPI function to null if the reference leads to this
/// library, but the loaded MPI library lacks the function. To be called before the program can have
/// used such a reference.
void drop_weak_references_to_missing_functions() noexcept;

}  // namespace poise::profile
