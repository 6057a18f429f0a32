// SPDX-License-Identifier: BSD-3-Clause
// Builds the launcher command that sets environment variables for the ranks of a job, but not for
// the launcher itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poise::profile {

enum class Launcher {
  open_mpi,  // mpirun -x NAME=VALUE
  hydra,     // mpirun -genv NAME VALUE: MPICH, Intel MPI, MVAPICH
  other,     // srun and unknown launchers: ranks inherit the environment
};

/// True if the command has the name of an MPI launcher. Such a command prints which launcher it is
/// when called with --version.
bool may_be_launcher(std::string_view command);

/// Returns the launcher that prints the text `version` when called with --version.
Launcher launcher_of(std::string_view version);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Adds the variables as options of the launcher. If options of the user set LD_PRELOAD, its value
/// in `variables` is put before the user's. Returns the command unchanged for Launcher::other.
std::vector<std::string> with_variables(const std::vector<std::string>& command, Launcher launcher,
                                        const Variables& variables);

}  // namespace poise::profile
