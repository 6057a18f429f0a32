// SPDX-License-Identifier: BSD-3-Clause
// Converts an enumerator to its index in a table that has one row per enumerator.
#pragma once

#include <cstddef>
#include <type_traits>

namespace poise {

template <typename Enum>
  requires std::is_enum_v<Enum>
constexpr std::size_t index_of(Enum enumerator) {
  return static_cast<std::size_t>(enumerator);
}

}  // namespace poise
