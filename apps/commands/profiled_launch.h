// SPDX-License-Identifier: BSD-3-Clause
// Launches a program with the user's command, with or without the profiling library, for the
// subcommands that measure unmodified programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/juggle/program.h"
#include "runtimes/profile/launcher_line.h"
#include "runtimes/profile/profile_file.h"

#include "poise/trace/trace.h"

namespace poise::apps {

/// Prints "poise COMMAND: text" on stderr, because stdout belongs to the program.
void note(std::string_view command, std::string_view text);

/// The launcher that the first word of the command names, and what the launcher prints for
/// --version.
struct KnownLauncher {
  profile::Launcher kind = profile::Launcher::other;
  std::string version;  // what the launcher prints for --version; empty if it was not asked
};
KnownLauncher launcher_of(const std::string& command);

/// Runs the command and waits for its end. Passes signals that poise receives meanwhile on to the
/// command. If one of these signals asks the command to end, sets `is_interrupted` (if given) to
/// true.
juggle::Ending run_command(const std::vector<std::string>& command, bool* is_interrupted = nullptr);

/// A profile, and the trace that was made from it.
struct Profiled {
  std::vector<profile::RankProfile> ranks;
  std::vector<std::string> hosts;  // in the order of the nodes of the trace's machine
  Trace trace;
  /// Returns the content of a trace file that contains both the trace and the profile.
  std::string file() const;
};

/// One launch of a program with the profiling library preloaded into its ranks.
class ProfiledLaunch {
 public:
  /// `command` is the name of the subcommand. It is printed at the beginning of each note on
  /// stderr. Creates a folder for the ranks' files beside `output`. Throws Error if the folder
  /// cannot be created or if the library is missing.
  ProfiledLaunch(std::string command, const std::string& output);
  /// Removes the folder.
  ~ProfiledLaunch();
  ProfiledLaunch(const ProfiledLaunch&) = delete;
  ProfiledLaunch& operator=(const ProfiledLaunch&) = delete;

  /// Returns the command line that runs the program with the profiling library preloaded in its
  /// ranks. If the launcher is not known, preloads the library by variables of this process's
  /// environment, which all processes inherit. The profile is divided into time slices of
  /// `period_ns`; if this is 0, the library chooses their length.
  std::vector<std::string> preloading(const std::vector<std::string>& words,
                                      std::int64_t period_ns) const;

  /// Collects the ranks' data. If there are none, returns nothing and prints a note. `failed` says
  /// whether the command ended with an error; the text of the note depends on it. Throws Error if
  /// the data are damaged.
  std::optional<Profiled> collect(bool failed) const;

 private:
  std::string whole() const { return folder_ + "/all"; }
  Profiled from_blocks(const std::vector<profile::RankProfile>& blocks) const;

  std::string command_, library_, folder_;
};

}  // namespace poise::apps
