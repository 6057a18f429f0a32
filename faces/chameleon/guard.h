// SPDX-License-Identifier: BSD-3-Clause
// Turns exceptions into a line on stderr and a result, because nothing may throw through C
// functions.
#pragma once

#include <cstdio>
#include <exception>

namespace poise::chameleon {

inline void say(const char* text) { std::fprintf(stderr, "chameleon: %s\n", text); }

/// Returns the result of the call, or `otherwise` if it throws.
template <typename Result, typename Call>
Result guarded(Result otherwise, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& exception) {
    say(exception.what());
  } catch (...) {
    say("an exception was thrown that is not a std::exception");
  }
  return otherwise;
}

}  // namespace poise::chameleon
