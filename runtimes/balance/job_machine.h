// SPDX-License-Identifier: BSD-3-Clause
// The machine of a parallel job: one place per rank or PE, on the cores that the processes have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <span>
#include <string>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::balance {

/// The host and core of a rank or PE.
struct ProcessLocation {
  std::uint32_t host = 0;  // hosts are numbered from 0; every host has at least one process

  /// The operating system's index of the core's processing unit if the process is bound to a single
  /// core, otherwise -1.
  std::int32_t core_os_index = -1;
};

/// The signature of sched_getaffinity; tests pass a simulated kernel.
using AffinityCall = int (*)(pid_t thread, std::size_t bytes, cpu_set_t* mask);

/// Returns the operating system's index of the core's processing unit if the calling thread is
/// bound to a single core, otherwise -1.
std::int32_t bound_core(AffinityCall call = ::sched_getaffinity);

/// Returns this host as a machine. If `poise measure` has run on this host, messages have the costs
/// that it measured. If the hardware cannot be read, returns a machine with one place.
Machine own_node();

/// Returns the machine `node` with costs for the runtimes. Messages cost what the formula
/// `physical` says (docs/model.md). If `poise measure` has not measured the network, a message
/// between hosts is assumed to cost a fixed multiple of a message within a host. A shared cache is
/// assumed not to make messages faster: a message between processes that share a cache takes at
/// least the latency between any two cores of a memory domain.
Machine with_assumptions(const Machine& node);

/// The machine of a job, with the places of all its processes. The places of a host have
/// consecutive numbers.
struct JobMachine {
  Machine machine;
  std::vector<std::uint32_t> process_of_place;  // index of the process that has the place
};

/// Builds the machine of a job whose hosts all look like `node`. A process bound to one core gets
/// the place of that core. If a host's processes are not all bound to distinct cores, they get the
/// places of the host in order. `host_names` has one entry per host. Throws Error if there are
/// several hosts and `node` has several nodes.
JobMachine job_machine(const Machine& node, std::span<const ProcessLocation> processes,
                       std::span<const std::string> host_names,
                       std::uint32_t places_per_process = 1);

}  // namespace poise::balance
