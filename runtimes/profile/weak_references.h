// SPDX-License-Identifier: BSD-3-Clause
// Programs that are built for several MPIs, such as mpi4py, refer weakly to functions that not
// every MPI has, and call them only if their address is not null. This library defines all MPI
// functions, so it must set the addresses of functions that the loaded MPI lacks to null.
#pragma once

namespace poise::profile {

/// Sets the addresses of MPI functions in the program's weak references to null if they lead to
/// this library, but the loaded MPI library lacks the function. To be called before the program can
/// have used such an address.
void drop_weak_references_to_missing_functions() noexcept;

}  // namespace poise::profile
