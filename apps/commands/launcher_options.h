// SPDX-License-Identifier: BSD-3-Clause
// Reads a launcher's options in a command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/launch_files.h"

namespace poise::apps {

/// Returns the first option of the launcher that places or binds ranks, as the user wrote it, or an
/// empty text if there is none. `launcher` must be openmpi, mpich or slurm. The launcher's options
/// end at the program, which is the first word that is neither an option nor the value of one.
std::string placing_option(const std::vector<std::string>& command, Launcher launcher);

/// True if the command gives the launcher the option of this name, which is without dashes.
bool has_option(const std::vector<std::string>& command, Launcher launcher, std::string_view name);

/// Returns the index of the program in a command that begins with a launcher, or the number of
/// words if there is none. `launcher` must be openmpi, mpich or slurm. The result may be wrong if
/// the command has an option that this version of Poise does not know.
std::size_t program_index(const std::vector<std::string>& command, Launcher launcher);

}  // namespace poise::apps
