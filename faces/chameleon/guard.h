// What programs hear of trouble: a line on stderr and a result. Nothing throws through C's
// functions.
#pragma once

#include <cstdio>
#include <exception>

namespace poise::chameleon {

inline void say(const char* text) { std::fprintf(stderr, "chameleon: %s\n", text); }

/// What the call returns, or `otherwise` if it throws.
template <typename Result, typename Call>
Result guarded(Result otherwise, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& exception) {
    say(exception.what());
  } catch (...) {
    say("something was thrown that is no std::exception");
  }
  return otherwise;
}

}  // namespace poise::chameleon
