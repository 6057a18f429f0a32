// The machine of a parallel job: one place per rank or PE, on the cores that the processes have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::balance {

/// Where a rank or PE runs.
struct ProcessLocation {
  std::uint32_t host = 0;  // 0 to the number of hosts - 1; every host has at least one process

  /// OS index of the processing unit of the core that the process is bound to; -1: not bound to a
  /// single core.
  std::int32_t core_os_index = -1;
};

/// The OS index of the processing unit of the core that the calling thread is bound to; -1 if it is
/// not bound to a single core.
std::int32_t bound_core();

/// This host with its measured factors, or a machine of one place if its hardware cannot be read.
Machine own_node();

/// The node with assumed costs of messages between processes, and an assumed network factor, for
/// whatever `poise measure` did not measure between hosts.
Machine with_assumptions(const Machine& node);

/// The places of all processes of a job. Places are numbered along the machine, so the places of a
/// host are consecutive.
struct JobMachine {
  Machine machine;
  std::vector<std::uint32_t> seat_of_place;  // index of the process that has the place
};

/// Builds the machine of a job whose hosts all look like `node`. A process bound to one core gets
/// the place of that core. If a host's processes are not all bound to distinct cores, they get the
/// places of the host in order. `host_names` has one entry per host.
JobMachine job_machine(const Machine& node, std::span<const ProcessLocation> processes,
                       std::span<const std::string> host_names,
                       std::uint32_t places_per_process = 1);

// Deprecated spellings.
using Seat = ProcessLocation;
using Seated = JobMachine;
inline JobMachine seated(const Machine& node, std::span<const ProcessLocation> processes,
                         std::span<const std::string> host_names,
                         std::uint32_t places_per_process = 1) {
  return job_machine(node, processes, host_names, places_per_process);
}

}  // namespace poise::balance
