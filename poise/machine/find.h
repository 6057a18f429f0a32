// The MACHINE argument of every command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// `live`, a file (.json, or .xml from hwloc), text such as "node:2 core:4" (hwloc's own synthetic
/// text when it has a "pu" or a bracket), or a name such as NUMA32 from the folders of
/// machine_folders(). Throws Error naming the argument and what would work.
Machine find_machine(std::string_view argument);

/// This machine, with what `poise measure` stored for it, else as the firmware tells.
Machine live_machine();

/// Where names are looked up: $POISE_MACHINES (folders split by ':'), the folder installed with
/// this program, and that of the source tree.
std::vector<std::string> machine_folders();

/// The names found there, sorted.
std::vector<std::string> machine_names();

/// The file in $XDG_DATA_HOME/poise (else ~/.local/share/poise) that holds the measurement of a
/// machine as discovered: its name has the host's and a hash of the topology, so a changed machine
/// is measured anew. Empty when there is no home.
std::string measurement_file(const Machine& discovered);

}  // namespace poise
