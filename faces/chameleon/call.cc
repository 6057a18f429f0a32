// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/call.h"

#include <algorithm>
#include <array>
#include <utility>

namespace poise::chameleon {

namespace {

#ifdef __clang__
#define ANY_FUNCTION __attribute__((no_sanitize("function")))
#else
#define ANY_FUNCTION
#endif

// A function may get more arguments than it takes: on Linux, the caller removes them from the
// stack.
template <std::size_t... i>
ANY_FUNCTION void call_with(void* code, void* const* arguments, std::index_sequence<i...>) {
  reinterpret_cast<void (*)(decltype((void)i, (void*)nullptr)...)>(code)(arguments[i]...);
}

template <std::size_t most>
void call_with_nulls(void* code, std::span<void* const> given) {
  std::array<void*, most> arguments{};
  std::copy(given.begin(), given.end(), arguments.begin());
  call_with(code, arguments.data(), std::make_index_sequence<most>());
}

}  // namespace

void call(void* code, std::span<void* const> arguments) {
  if (arguments.size() <= 6) return call_with_nulls<6>(code, arguments);
  if (arguments.size() <= 20) return call_with_nulls<20>(code, arguments);
  if (arguments.size() <= 128) return call_with_nulls<128>(code, arguments);
  call_with_nulls<kMaxArguments>(code, arguments);
}

}  // namespace poise::chameleon
