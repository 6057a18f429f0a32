// Reads a runtime's settings from environment variables.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::balance {

/// An environment variable (POISE_...) and the function that parses its value into the options.
/// The function throws Error if the value is not valid.
template <typename Options>
struct Variable {
  const char* name;
  void (*set)(Options&, std::string_view);
};

/// Applies the variables that are set and not empty, in the order of the table: a later one may
/// override what an earlier one implies. `environment` is std::getenv or a test's stand-in. Throws
/// Error naming the variable.
template <typename Options>
void apply(Options& options, std::span<const Variable<Options>> variables,
           const std::function<const char*(const char*)>& environment) {
  for (const auto& [name, set] : variables) {
    const char* value = environment(name);
    if (value == nullptr || *value == '\0') continue;
    try {
      set(options, value);
    } catch (const Error& error) {
      fail("{}: {}", name, error.what());
    }
  }
}

/// Parses POISE_BUDGET: a time with its unit, in seconds. Throws Error.
inline double budget_s_of(std::string_view text) {
  const auto seconds = parse_duration_s(text);
  if (!seconds) fail("\"{}\" is not a time such as 2s or 100ms", text);
  return *seconds;
}

}  // namespace poise::balance
