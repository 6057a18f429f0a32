// SPDX-License-Identifier: BSD-3-Clause
// Calls a function with up to kMaxArguments arguments: pointers, or integers that fit in a pointer.
#pragma once

#include <cstddef>
#include <span>

namespace poise::chameleon {

inline constexpr std::size_t kMaxArguments = 1024;

void call(void* code, std::span<void* const> arguments);

}  // namespace poise::chameleon
