// SPDX-License-Identifier: BSD-3-Clause

#include "faces/library/arrays.h"

#include <algorithm>
#include <limits>

namespace poise::library {

std::int64_t as_written(std::uint32_t index) {
  constexpr std::uint32_t kFirstNegative = 0x80000000;
  return index < kFirstNegative ? std::int64_t{index}
                                : std::int64_t{static_cast<std::int32_t>(index)};
}

// The first loop has no branch, so compilers vectorise it and checking a valid array is cheap.
void check_seconds(std::span<const double> seconds, const char* name) {
  // The sum of all loads must not exceed kMost, either. A double holds whole numbers of seconds up
  // to kMost exactly.
  constexpr double kMost = 1e15;
  bool are_valid = true;
  for (const double s : seconds) are_valid &= s >= 0 && s <= kMost;
  for (std::size_t i = 0; !are_valid && i < seconds.size(); ++i)
    if (!(seconds[i] >= 0 && seconds[i] <= kMost))
      fail("{}[{}] is {}; it must be from 0 to 1e15", name, i, seconds[i]);
}

void check_counted(std::span<const std::uint64_t> numbers, const char* name, std::size_t first) {
  // The sum of all entries must not exceed kMost, either. A double holds whole numbers up to kMost
  // exactly.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  std::uint64_t bits = 0;
  for (const std::uint64_t number : numbers) bits |= number;
  for (std::size_t i = 0; bits > kMost && i < numbers.size(); ++i)
    if (numbers[i] > kMost)
      fail("{}[{}] is {}; it must be at most 2^53", name, first + i, numbers[i]);
}

void check_below(std::span<const std::uint32_t> indices, std::uint64_t count, const char* name,
                 const char* things, std::size_t first) {
  // `last` is the largest valid index. If an index is larger, the highest bit of `index` or of
  // `last - index` is set.
  const std::uint32_t last = count - 1;
  std::uint32_t bits = 0;
  for (const std::uint32_t index : indices) bits |= index | (last - index);
  for (std::size_t i = 0; bits >> 31 != 0 && i < indices.size(); ++i)
    if (indices[i] >= count)
      fail("{}[{}] is {}; it must be at least 0 and below {}, the number of {}", name, first + i,
           as_written(indices[i]), count, things);
}

std::uint32_t checked_count(std::uint64_t count, const char* name) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (count > kMost) fail("{} is {}; it must be at most {}", name, count, kMost);
  return count;
}

std::uint64_t checked_num_messages(std::uint64_t n, const char* name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // entries of 4 bytes would take 4 TiB
  if (n > kMost) fail("{} is {}; it must be at most 2^40", name, n);
  return n;
}

Placement placement_or_blocks(const std::uint32_t* places, TaskId num_tasks,
                              std::uint32_t num_places, const char* name) {
  if (places == nullptr) return blocked(num_tasks, num_places);
  const std::span<const std::uint32_t> given(places, num_tasks);
  check_below(given, num_places, name, "places");
  return Placement(std::vector<PlaceId>(given.begin(), given.end()));
}

}  // namespace poise::library
