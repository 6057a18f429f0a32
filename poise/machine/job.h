// SPDX-License-Identifier: BSD-3-Clause
// Reads the hosts of a running batch job from the variables and files of its scheduler. Pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// A host of the job, and the network switch to which it is connected.
struct JobHost {
  std::string name = {};
  std::uint32_t slots = 0;       // processors that the job has on the host; 0: unknown
  std::string leaf_switch = {};  // empty: not known
};

/// Host names from a list in Slurm's form, such as "n[001-003,7],login" in SLURM_JOB_NODELIST.
/// Ranges keep their leading zeros. Throws Error with the text if brackets or ranges are wrong.
std::vector<std::string> expanded_hosts(std::string_view text);

/// Hosts of a Slurm job; `processors` is SLURM_JOB_CPUS_PER_NODE, such as "16(x3),8", or empty.
/// Throws Error if `processors` is not empty and does not have one count per host.
std::vector<JobHost> hosts_of_slurm(std::string_view nodes, std::string_view processors);

/// The number of ranks of a Slurm job. `tasks` is SLURM_TASKS_PER_NODE, such as "2(x3),1"; if it is
/// empty, the result is 0.
std::uint64_t ranks_of_slurm(std::string_view tasks);

/// Hosts of a PBS job from the file PBS_NODEFILE, which has one line per slot. The hosts are in the
/// order in which they first appear.
std::vector<JobHost> hosts_of_pbs(std::string_view node_file);

/// Hosts of an LSF job from LSB_MCPU_HOSTS: "hostA 16 hostB 8", in order of appearance. The counts
/// of a host that appears several times are added up. Throws Error if a count is missing.
std::vector<JobHost> hosts_of_lsf(std::string_view text);

/// Sets the switch of each host from lines "SwitchName=s0 ... Nodes=n[0-3]" as in topology.conf(5)
/// or the output of `scontrol show topology`. If several switches list a host, the one with the
/// fewest hosts is its leaf switch, because Slurm lists a host at every switch above it. Skips
/// switches whose lists of hosts have an unknown form.
void find_switches(std::string_view topology, std::vector<JobHost>& hosts);

/// Returns a machine with one copy of `node` per host. If the network switch of every host is
/// known, hosts on the same switch get consecutive numbers; otherwise, hosts keep their order. If
/// there are several known switches, and all pairs of hosts have the same factor, each switch is a
/// group of level "switch". Sets `names` to the hosts' names in the order of the machine's nodes.
Machine machine_of_job(const Machine& node, std::vector<JobHost> hosts,
                       std::vector<std::string>& names);

}  // namespace poise
