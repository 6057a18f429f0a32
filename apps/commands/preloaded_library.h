// SPDX-License-Identifier: BSD-3-Clause
// Finds the libraries that `poise` preloads into other programs.
#pragma once

#include <string>

namespace poise::apps {

/// Returns the path of the library with this file name, such as "libpoise_profile.so": in the build
/// tree of this program, or where libraries are installed. Empty if there is no such library.
std::string preloaded_library(const char* name);

}  // namespace poise::apps
