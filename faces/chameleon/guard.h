// SPDX-License-Identifier: BSD-3-Clause
// Turns an exception into a line on stderr and a return value, because an exception must not leave
// a function that C calls.
#pragma once

#include <cstdio>
#include <exception>

namespace poise::chameleon {

inline void say(const char* text) { std::fprintf(stderr, "chameleon: %s\n", text); }

/// Returns the result of `call`, or the value `otherwise` if `call` throws an exception.
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
