// SPDX-License-Identifier: BSD-3-Clause
// Keeps two balancers from setting the affinities of the same threads.
//
// A balancer locks the folder of one process in /proc. If the balancer starts the program, it locks
// the folder of its own process, because all processes of the program descend from it. If the
// balancer is attached to a running process, it locks the folder of that process. The kernel
// removes the lock when the balancer ends, also after SIGKILL.
#pragma once

#include <optional>
#include <sys/types.h>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// Locks `process` and its descendants for this balancer, until the result is destroyed. Returns
/// nothing if another balancer has locked the process or one of its ancestors. If the system
/// refuses such locks, returns a descriptor that is not open: balancers then do not notice each
/// other.
std::optional<Descriptor> claim(pid_t process);

/// True if a balancer has locked this process. Does not look at the ancestors of the process.
bool is_claimed(pid_t process);

}  // namespace poise::juggle
