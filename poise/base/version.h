// SPDX-License-Identifier: BSD-3-Clause
// The version of Poise, and what it was built with.
#pragma once

namespace poise {

/// Such as "1.2.3". CMakeLists.txt is the only place that states it.
const char* version();

/// Returns one line with the compiler and the libraries of this build, which determine the
/// available features.
const char* built_with();

}  // namespace poise
