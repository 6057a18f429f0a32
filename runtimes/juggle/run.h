// SPDX-License-Identifier: BSD-3-Clause
// Runs a program under the balancer: one loop that waits for the next balancing point, for signals
// and for the end of processes.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/balancer.h"
#include "runtimes/juggle/program.h"

namespace poise::juggle {

struct Outcome {
  Ending ending;
  Tally tally;
};

/// Runs the command under the balancer until the command ends. Signals to this process go to the
/// command, and a guard process restores affinities if this process is killed or stopped. If the
/// system refuses something that balancing needs, or another balancer already balances this
/// process, the command runs without balancing, and on_note tells why. Throws Error for cpus that
/// are not allowed.
Outcome run_balanced(const std::vector<std::string>& command, const BalancerOptions& options);

/// Balances a running process and its children until that process ends or a signal (INT, TERM, HUP,
/// QUIT) tells the balancer to leave it. Throws Error if that process cannot be balanced, or if
/// another balancer already balances it.
Outcome attach_balanced(pid_t pid, const BalancerOptions& options);

}  // namespace poise::juggle
