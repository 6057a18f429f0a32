// SPDX-License-Identifier: BSD-3-Clause
// The environment variables that the preloaded library reads. A wrong value must not end a program
// that is only observed: rank 0 prints one line, and the default applies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace poise::profile {

inline constexpr std::int64_t kMinPeriod_ns = 10'000'000;          // 10 ms
inline constexpr std::int64_t kMaxPeriod_ns = 86'400'000'000'000;  // 24 h

struct Settings {
  enum class Reorder : std::uint8_t { off, on, verbose };

  std::string output;  // file of the profile; empty: no profile
  std::string parts;   // folder in which each rank stores finished phases
  /// Length of the phases; 0: the profiler finds where phases begin.
  std::int64_t period_ns = 0;
  Reorder reorder = Reorder::off;
  std::string machine;             // description of the machine; empty: built from the hosts
  std::vector<std::string> notes;  // one sentence per wrong value
};

/// `value_of` returns the text of a variable, or null if it is not set.
Settings read_settings(const std::function<const char*(const char*)>& value_of);

/// The settings of this process. The environment is read once.
const Settings& settings();

/// Prints one line to stderr: line breaks in the text become spaces.
void print_note(std::string text);

}  // namespace poise::profile
