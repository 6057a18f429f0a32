// SPDX-License-Identifier: BSD-3-Clause
// The options of a benchmark.
#pragma once

#include <string>
#include <string_view>

#include "poise/base/error.h"

namespace poise::bench {

/// Calls take(name, value) for each argument NAME=VALUE, or take(name, "") for an argument NAME.
/// take() returns false for an unknown option. The option is then ignored if it belongs to the
/// benchmark library (--benchmark_...), because all benchmarks are called with such options;
/// otherwise throws Error. `file` is the source file, whose first comment lists the options.
template <typename Take>
void for_each_option(int argc, char** argv, std::string_view file, const Take& take) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (!take(argument.substr(0, equals), value) && !argument.starts_with("--benchmark_"))
      fail("unknown option \"{}\"; the comment at the top of {} lists the options", argument, file);
  }
}

}  // namespace poise::bench
