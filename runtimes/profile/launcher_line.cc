// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/launcher_line.h"

#include <array>

namespace poise::profile {

bool may_be_launcher(std::string_view command) {
  const std::string_view name = command.substr(command.rfind('/') + 1);
  constexpr std::array<std::string_view, 4> kNames = {"mpirun", "mpiexec", "orterun", "prterun"};
  for (const std::string_view known : kNames)  // also mpirun.openmpi, mpiexec.hydra
    if (name == known || name.starts_with(std::string(known) + ".")) return true;
  return false;
}

Launcher launcher_of(std::string_view version) {
  const auto says = [&](std::string_view words) { return version.find(words) != version.npos; };
  if (says("Open MPI") || says("OpenRTE") || says("PRRTE") || says("prte"))
    return Launcher::open_mpi;
  if (says("HYDRA") || says("Intel(R) MPI")) return Launcher::hydra;
  return Launcher::other;
}

std::vector<std::string> with_variables(const std::vector<std::string>& command, Launcher launcher,
                                        const Variables& variables) {
  if (launcher == Launcher::other || command.empty()) return command;
  std::vector<std::string> words = {command[0]};
  for (const auto& [name, value] : variables) {
    if (launcher == Launcher::open_mpi)
      words.insert(words.end(), {"-x", name + "=" + value});
    else
      words.insert(words.end(), {"-genv", name, value});
  }
  words.insert(words.end(), command.begin() + 1, command.end());
  return words;
}

}  // namespace poise::profile
