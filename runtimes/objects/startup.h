// SPDX-License-Identifier: BSD-3-Clause
// Gives all ranks the same options before the first object exists.
#pragma once

#include <mpi.h>

#include "runtimes/objects/options.h"

namespace poise::objects {

/// Returns the options with the environment of rank 0 applied, the same on every rank. An invalid
/// setting ends the job: rank 0 prints one line, and the exit status is 2. Collective.
CollectionOptions agreed_options(MPI_Comm comm, const CollectionOptions& options);

}  // namespace poise::objects
