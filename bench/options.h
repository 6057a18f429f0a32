// SPDX-License-Identifier: BSD-3-Clause
// The options of a benchmark.
#pragma once

#include <string>
#include <string_view>

#include "poise/base/error.h"

namespace poise::bench {

/// Calls take(name, value) for each argument NAME=VALUE, or NAME with an empty value. Ignores
/// options of the benchmark library, which all benchmarks get, unless `take` knows them. Throws
/// Error if take() returns false for any other argument. `file` is the source file, whose first
/// comment lists the options.
template <typename Take>
void for_each_option(int argc, char** argv, std::string_view file, const Take& take) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (!take(argument.substr(0, equals), value) && !argument.starts_with("--benchmark_"))
      fail("no option \"{}\"; the comment at the top of {} lists the options", argument, file);
  }
}

}  // namespace poise::bench
