// SPDX-License-Identifier: BSD-3-Clause
// The version of Poise, and what it was built with.
#pragma once

namespace poise {

/// Returns the version, such as "1.2.3". The number is stated in CMakeLists.txt only.
const char* version();

/// Returns one line with the compiler and the libraries of this build, which determine the
/// available features.
const char* built_with();

}  // namespace poise
