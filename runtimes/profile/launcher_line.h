// SPDX-License-Identifier: BSD-3-Clause
// The command line that gives variables to the ranks of a job and to no other process.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poise::profile {

enum class Launcher {
  open_mpi,  // mpirun -x NAME=VALUE
  hydra,     // mpirun -genv NAME VALUE: MPICH, Intel MPI, MVAPICH
  other,     // srun and what is not known: ranks inherit the environment
};

/// Whether the command's name is one of an MPI launcher, which says with --version what it is.
bool may_be_launcher(std::string_view command);

/// `version`: what the launcher prints with --version.
Launcher launcher_of(std::string_view version);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The command with the variables as the launcher's options; unchanged for `other`.
std::vector<std::string> with_variables(const std::vector<std::string>& command, Launcher launcher,
                                        const Variables& variables);

}  // namespace poise::profile
