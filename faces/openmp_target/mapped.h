// SPDX-License-Identifier: BSD-3-Clause
// Records which memory `target data` and `target enter data` have mapped. Regions may access mapped
// memory by its address.
#pragma once

#include <cstddef>
#include <optional>

namespace poise::openmp_target {

struct Range {
  char* begin;
  std::size_t bytes;
};

/// Records that `target data` or `target enter data` maps a range. Mappings of a range are counted:
/// a range that was mapped twice stays mapped until it is released twice, or once with the map type
/// `delete`.
void hold(Range range);
void release(Range range, bool for_good);
/// Returns the mapped range that contains `address`, if there is one.
std::optional<Range> held_around(void* address);

/// Implements the map modifier `present`: ends the program unless a single mapped range contains
/// all of `range`.
void need_present(Range range);

/// Records that a pointer was mapped together with the memory to which it points. Mappings of a
/// pointer are counted like those of a range.
void attach(void* pointer);
void detach(void* pointer, bool for_good);
bool attached_within(Range range);

}  // namespace poise::openmp_target
