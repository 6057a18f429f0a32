// SPDX-License-Identifier: BSD-3-Clause
// A file per rank with its finished phases, in case the program dies. It is deleted when the
// program ends normally.
#pragma once

#include <cstdint>
#include <string>

#include "runtimes/profile/profile_file.h"

namespace poise::profile {

/// Writes the file FOLDER/rank-R. If `folder` is empty or the file cannot be written, no journal is
/// kept. Each phase is appended when it ends, so finished phases survive even SIGKILL. The file
/// stays small, because long runs have longer phases (series.h).
class Journal {
 public:
  /// `head` is the profile of this rank without its phases.
  Journal(const std::string& folder, RankProfile head);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// True if a journal is kept, that is, if its file could be opened.
  bool is_open() const { return file_ >= 0; }
  void append(Cuts cuts, const Phase& phase, const std::map<std::uint64_t, std::string>& names);
  void remove();

 private:
  std::string path_;
  RankProfile head_;
  int file_ = -1;
};

}  // namespace poise::profile
