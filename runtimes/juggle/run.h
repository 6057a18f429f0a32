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

/// Runs the command under the balancer, until it ends. Signals to this process go to the command,
/// and a guard process gives affinities back if this one is killed or stopped. Where something that
/// balancing needs cannot be had the command runs alone, and on_note tells why. Throws Error for
/// cpus that are not allowed.
Outcome run_balanced(const std::vector<std::string>& command, const Options& options);

/// Balances a process that runs, and its children, until it ends or a signal (INT, TERM, HUP, QUIT)
/// says to leave it. Throws Error when that process cannot be balanced.
Outcome attach_balanced(pid_t pid, const Options& options);

}  // namespace poise::juggle
