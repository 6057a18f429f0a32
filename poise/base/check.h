// SPDX-License-Identifier: BSD-3-Clause
// Three levels of assertions, for bugs of Poise itself. Bad input throws Error instead (error.h).
//
//   POISE_CHECK     always on, O(1)
//   POISE_ASSERT    in dev and CI builds (POISE_ASSERTIONS >= 1)
//   POISE_VALIDATE  nightly, O(n) (POISE_ASSERTIONS >= 2)
#pragma once

namespace poise {

/// Prints the failed condition and its position in the source, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace poise

#define POISE_CHECK(condition) \
  ((condition) ? void(0) : ::poise::check_failed(#condition, __FILE__, __LINE__))

#ifndef POISE_ASSERTIONS
#define POISE_ASSERTIONS 0
#endif

#if POISE_ASSERTIONS >= 1
#define POISE_ASSERT(condition) POISE_CHECK(condition)
#else
#define POISE_ASSERT(condition) void(0)
#endif

#if POISE_ASSERTIONS >= 2
#define POISE_VALIDATE(condition) POISE_CHECK(condition)
#else
#define POISE_VALIDATE(condition) void(0)
#endif
