// SPDX-License-Identifier: BSD-3-Clause
// Reads a runtime's settings from environment variables.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "poise/base/error.h"
#include "poise/base/variables.h"

namespace poise::balance {

/// The name of an environment variable listed in poise/base/variables.h, and the function that
/// parses the variable's value and changes the options. The function throws Error if the value is
/// not valid.
template <typename Options>
struct Setter {
  std::string_view name;
  void (*set)(Options&, std::string_view text, const Variable&);
};

/// Changes the options as the environment variables named in `setters` say. A variable that is
/// unset or empty changes nothing. The order of `setters` matters, because a later variable may
/// override what an earlier one implies. `environment` is std::getenv or a replacement for tests.
/// Throws Error naming the variable whose value is not valid.
template <typename Options>
void apply(Options& options, std::span<const Setter<Options>> setters,
           const std::function<const char*(const char*)>& environment) {
  for (const auto& [name, set] : setters) {
    const char* value = environment(name.data());
    if (value == nullptr || *value == '\0') continue;
    try {
      set(options, value, variable(name));
    } catch (const Error& error) {
      fail("{}: {}", name, error.what());
    }
  }
}

}  // namespace poise::balance
