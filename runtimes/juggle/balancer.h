// The thread balancer: one loop over a timer, signals and the program's end. It measures, asks the
// team (poise/online/juggle_team.h) and sets affinities; it decides nothing itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/counter.h"
#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/program.h"
#include "runtimes/juggle/tally.h"

#include "poise/online/juggle_team.h"

namespace poise::juggle {

struct Options {
  JuggleSettings settings;
  Cpus cpus = {};                                 // none: all that are allowed
  std::optional<std::uint32_t> skip_thread = {};  // of each process, counted from 0
  bool stays_in_domain = false;                   // threads do not leave their memory domain
  ProgressSource progress = ProgressSource::automatic;
  double jitter = 0.1;  // share by which each period varies at random
  std::uint64_t seed = 0;
  bool wants_stays = false;                            // for a trace
  std::function<void(const Tally&)> on_round = {};     // after every round
  std::function<void(std::string_view)> on_note = {};  // something the user should know, once each
};

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
