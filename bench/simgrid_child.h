// SPDX-License-Identifier: BSD-3-Clause
// Runs a simulation of SimGrid in a process of its own, because a process can use only one engine.
#pragma once

#include <optional>
#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <xbt/log.h>

namespace poise {

/// The time after which a simulation is ended.
inline constexpr int kSimGridTimeout_s = 120;

/// Calls `simulate` with an engine in a child process. Returns the seconds that `simulate` returns,
/// or nothing if the child fails or takes too long. Links share their bandwidth fairly (model
/// CM02), without the corrections by which SimGrid imitates TCP.
template <typename Simulate>
std::optional<double> simulated_in_child(int argc, char** argv, const Simulate& simulate) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSimGridTimeout_s);
    xbt_log_control_set("xbt_cfg.thresh:warning");
    simgrid::s4u::Engine engine(&argc, argv);
    for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0",
                                "network/crosstraffic:0", "network/weight-S:0"})
      simgrid::s4u::Engine::set_config(setting);
    const double seconds = simulate(engine);
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = 0;
  const bool is_complete = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return is_complete && status == 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace poise
