// SPDX-License-Identifier: BSD-3-Clause
// The version of Poise, and what it was built with.
#pragma once

namespace poise {

/// "0.1.0"
const char* version();

/// One line: the compiler and the libraries that decide what works.
const char* built_with();

}  // namespace poise
