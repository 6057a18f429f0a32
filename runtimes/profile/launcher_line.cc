// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/launcher_line.h"

#include <array>

namespace poise::profile {

namespace {

constexpr std::string_view kPreload = "LD_PRELOAD";

/// If the last of `words` is the value of a user's option that sets LD_PRELOAD, inserts the
/// libraries `own` before this value. Otherwise the user's option would override the option of the
/// profile: if several options set a variable, launchers use the last option.
void join_preloads(std::vector<std::string>& words, Launcher launcher, const std::string& own) {
  const std::size_t n = words.size();
  std::string& last = words.back();
  if (launcher == Launcher::open_mpi && n > 1 && words[n - 2] == "-x") {
    if (last.starts_with(std::string(kPreload) + "="))
      last.insert(kPreload.size() + 1, own + ":");
    else if (last == kPreload)  // without a value: the launcher's own value, which `own` contains
      last += "=" + own;
  } else if (launcher == Launcher::hydra && n > 2 && words[n - 2] == kPreload) {
    if (words[n - 3] == "-genv" || words[n - 3] == "-env") last.insert(0, own + ":");
  }
}

}  // namespace

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
  std::vector<std::string> options;
  std::string preloaded;
  for (const auto& [name, value] : variables) {
    if (name == kPreload) preloaded = value;
    if (launcher == Launcher::open_mpi)
      options.insert(options.end(), {"-x", name + "=" + value});
    else
      options.insert(options.end(), {"-genv", name, value});
  }
  std::vector<std::string> words;
  for (const std::string& word : command) {
    words.push_back(word);
    if (!preloaded.empty()) join_preloads(words, launcher, preloaded);
    // A command may start several programs, separated by colons. Open MPI's option -x sets
    // variables for one of them; Hydra's option -genv sets them for all.
    const bool begins_program = launcher == Launcher::open_mpi && word == ":";
    if (words.size() == 1 || begins_program)
      words.insert(words.end(), options.begin(), options.end());
  }
  return words;
}

}  // namespace poise::profile
