// SPDX-License-Identifier: BSD-3-Clause
// Calls functions that take any number of pointers, or integers in the place of pointers.
#pragma once

#include <cstddef>
#include <span>

namespace poise::chameleon {

inline constexpr std::size_t kMaxArguments = 1024;

void call(void* code, std::span<void* const> arguments);

}  // namespace poise::chameleon
