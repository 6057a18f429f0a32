// SPDX-License-Identifier: BSD-3-Clause
// Checks of arrays that callers pass. Errors name the array, the index and the value.
#pragma once

#include <cstdint>
#include <span>

#include "poise/base/error.h"
#include "poise/placement/placement.h"

namespace poise::library {

/// The array, which must not be null unless it is empty.
template <typename T>
std::span<const T> array(const T* data, std::uint64_t size, const char* name) {
  if (data == nullptr && size > 0) fail("{} is null, but should have {} entries", name, size);
  return {data, static_cast<std::size_t>(size)};
}

/// An index as its user wrote it: languages without unsigned numbers pass negative ones.
std::int64_t as_written(std::uint32_t index);

/// Throws unless all are finite and at least 0.
void check_seconds(std::span<const double> seconds, const char* name);
/// Throws unless all are below `count` things ("tasks", "places").
void check_below(std::span<const std::uint32_t> indices, std::uint64_t count, const char* name,
                 const char* things);
/// Throws unless it is a number of tasks or places that can be counted in 32 bits.
std::uint32_t checked_count(std::uint64_t count, const char* name);

/// The placement in an array; blocks of consecutive tasks if it is null.
Placement placement_or_blocks(const std::uint32_t* places, TaskId num_tasks,
                              std::uint32_t num_places, const char* name);

}  // namespace poise::library
