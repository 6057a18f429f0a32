// SPDX-License-Identifier: BSD-3-Clause
// Checks of arrays that callers pass. Errors name the array, the index and the value.
#pragma once

#include <cstdint>
#include <span>

#include "poise/base/error.h"
#include "poise/placement/placement.h"

namespace poise::library {

/// Returns the array as a span. Throws Error if `data` is null although `size` is above 0.
template <typename T>
std::span<const T> array(const T* data, std::uint64_t size, const char* name) {
  if (data == nullptr && size > 0)
    fail("{} is null; it must be an array of {} entries", name, size);
  return {data, size};
}

/// Returns the index as a signed number, for error texts: callers in languages without unsigned
/// numbers may have passed a negative index.
std::int64_t as_written(std::uint32_t index);

/// Throws Error unless all values are from 0 to 1e15.
void check_seconds(std::span<const double> seconds, const char* name);
/// Throws Error unless all numbers of bytes or messages are at most 2^53. `first` is the position
/// of the span's first entry in the caller's array.
void check_counted(std::span<const std::uint64_t> numbers, const char* name, std::size_t first = 0);
/// Throws Error unless all indices are below `count`. `things` names what is counted, such as
/// "tasks". `first` is the position of the span's first entry in the caller's array.
void check_below(std::span<const std::uint32_t> indices, std::uint64_t count, const char* name,
                 const char* things, std::size_t first = 0);
/// Throws Error if the number of tasks or places exceeds 2^31 - 1.
std::uint32_t checked_count(std::uint64_t count, const char* name);
/// Throws Error if n messages cannot fit in memory, for example because the caller passed -1.
std::uint64_t checked_num_messages(std::uint64_t n, const char* name);

/// Returns the placement that the array `places` holds. If `places` is null, returns a placement in
/// blocks of consecutive tasks.
Placement placement_or_blocks(const std::uint32_t* places, TaskId num_tasks,
                              std::uint32_t num_places, const char* name);

}  // namespace poise::library
