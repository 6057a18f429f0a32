// SPDX-License-Identifier: BSD-3-Clause
// Finds the libraries that the command preloads into other programs.
#pragma once

#include <string>

namespace poise::apps {

/// Returns the path of the library, such as "libpoise_profile.so". It is beside this program in the
/// build tree, or where it is installed. Empty if there is none.
std::string preloaded_library(const char* name);

}  // namespace poise::apps
