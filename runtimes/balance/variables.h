// Settings from the environment.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::balance {

/// POISE_… and what it sets.
template <typename Options>
struct Variable {
  const char* name;
  void (*set)(Options&, std::string_view);
};

/// Applies those that are there and not empty, in order. Throws Error naming the variable.
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

/// What POISE_BUDGET says. Throws Error.
inline double budget_s_of(std::string_view text) {
  const auto seconds = parse_duration_s(text);
  if (!seconds) fail("\"{}\" is not a time such as 2s or 100ms", text);
  return *seconds;
}

}  // namespace poise::balance
