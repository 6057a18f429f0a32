// SPDX-License-Identifier: BSD-3-Clause
// Launches a program as the user's command says, with or without the profile's library, for the
// commands that measure unmodified programs.
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

/// Prints "poise COMMAND: text" on stderr: stdout is the program's.
void note(std::string_view command, std::string_view text);

/// What the command's first word is, and what it says with --version.
struct KnownLauncher {
  profile::Launcher kind = profile::Launcher::other;
  std::string version;  // empty: it was not asked
};
KnownLauncher launcher_of(const std::string& command);

/// Runs the command; signals to this process go to it.
juggle::Ending run_command(const std::vector<std::string>& command);

/// A profile, and the trace made of it.
struct Profiled {
  std::vector<profile::RankProfile> ranks;
  std::vector<std::string> hosts;  // in the order of the nodes of the trace's machine
  Trace trace;
  /// The trace as a file, with the profile in it.
  std::string file() const;
};

/// One launch with the library in the program's ranks.
class ProfiledLaunch {
 public:
  /// `command` is the name for notes; a folder for the ranks is made beside `output`. Throws Error
  /// if that fails, or if the library is not there.
  ProfiledLaunch(std::string command, const std::string& output);
  /// Removes the folder.
  ~ProfiledLaunch();
  ProfiledLaunch(const ProfiledLaunch&) = delete;
  ProfiledLaunch& operator=(const ProfiledLaunch&) = delete;

  /// The words that run the program with the library in its ranks. Where the launcher is not known
  /// the library is put into this process's environment, which all inherit. `period_ns`: of time
  /// slices; 0: chosen by the library.
  std::vector<std::string> preloading(const std::vector<std::string>& words,
                                      std::int64_t period_ns) const;

  /// What the ranks left; nothing, and a note why, if there is nothing. Throws Error if it is
  /// damaged.
  std::optional<Profiled> collect() const;

 private:
  std::string whole() const { return folder_ + "/all"; }
  Profiled from_blocks(const std::vector<profile::RankProfile>& blocks) const;

  std::string command_, library_, folder_;
};

}  // namespace poise::apps
