// SPDX-License-Identifier: BSD-3-Clause
// Resolves the MACHINE argument of every command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

struct JobHost;

/// Reads `live`, `job`, a file (.json, or .xml from hwloc), text such as "node:2 core:4" (or
/// hwloc's synthetic text, recognised by "pu" or a bracket), or a name such as NUMA32 from the
/// folders of machine_folders(). Throws Error naming the argument and the accepted forms.
Machine find_machine(std::string_view argument);

/// Returns this host as a machine, with the stored results of `poise measure` if there are any,
/// otherwise as the firmware describes it.
Machine live_machine();

/// The machine of the running batch job: one copy of this host per host of the job (job.h).
/// hosts[n] is the name of the host that is node n. The hosts come from the first of
/// SLURM_JOB_NODELIST, LSB_MCPU_HOSTS and PBS_NODEFILE that is set (Cray's launchers run under
/// Slurm or PBS). The network switches of a Slurm job come from topology.conf beside SLURM_CONF or
/// in /etc/slurm. Throws Error if there is no job.
struct Job {
  Machine machine;
  std::vector<std::string> hosts;
  /// The number of ranks requested for the job: the sum of SLURM_TASKS_PER_NODE, the number of
  /// slots of an LSF job, or the number of lines of PBS_NODEFILE; 0: unknown.
  std::uint64_t ranks = 0;
};
Job job_machine();

/// Reads from topology.conf (beside SLURM_CONF or in /etc/slurm) to which network switch each host
/// is connected. Without this file, the switches stay unknown.
void find_slurm_switches(std::vector<JobHost>& hosts);

/// Folders in which machines are looked up by name: $POISE_MACHINES (separated by ':'), the folders
/// installed with this library and this program, and the folder of the source tree.
std::vector<std::string> machine_folders();

/// All names found in the folders of machine_folders(), sorted.
std::vector<std::string> machine_names();

/// The file in $XDG_DATA_HOME/poise (or ~/.local/share/poise) with the measurement of a discovered
/// machine. Its name contains the host name and a hash of the topology, so a changed machine is
/// measured again. Empty if there is no home directory.
std::string measurement_file(const Machine& discovered);

}  // namespace poise
