// SPDX-License-Identifier: BSD-3-Clause
// Measures the time of messages between hosts by running poise-pingpong under an MPI launcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "poise/machine/facts.h"

namespace poise::apps {

struct NetworkProbe {
  std::string launcher;  // "mpirun -np 4"
  double seconds;        // time to spend on messages; starting the ranks takes extra time
  bool ranks_as_hosts;
};

struct NetworkTimes {
  std::vector<std::string> hosts;
  std::vector<HostPair> pairs;
};

/// Measures the network. Throws std::runtime_error if the launcher fails, prints unexpected lines,
/// or takes too long; throws Error if poise-pingpong was not built.
NetworkTimes measure_network(const NetworkProbe& probe,
                             const std::function<void(double, const std::string&)>& progress);

}  // namespace poise::apps
