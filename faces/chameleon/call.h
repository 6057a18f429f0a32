// SPDX-License-Identifier: BSD-3-Clause
// Calls functions with any number of arguments, which are pointers or integers of no larger size.
#pragma once

#include <cstddef>
#include <span>

namespace poise::chameleon {

inline constexpr std::size_t kMaxArguments = 1024;

void call(void* code, std::span<void* const> arguments);

}  // namespace poise::chameleon
