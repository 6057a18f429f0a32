// SPDX-License-Identifier: BSD-3-Clause
// What a rank leaves behind when it dies: its finished phases, in a file of its own that is removed
// when the program ends as it should.
#pragma once

#include <cstdint>
#include <string>

#include "runtimes/profile/profile_file.h"

namespace poise::profile {

/// The file is FOLDER/rank-R. Without a folder, or where it cannot be written, nothing is kept.
/// Phases are appended as they end, so that even a killed process leaves them; there are few
/// (series.h).
class Journal {
 public:
  /// `head`: what a block says besides its phases.
  Journal(const std::string& folder, RankProfile head);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(Cuts cuts, const Phase& phase, const std::map<std::uint64_t, std::string>& names);
  void remove();

 private:
  std::string path_;
  RankProfile head_;
  int file_ = -1;
};

}  // namespace poise::profile
