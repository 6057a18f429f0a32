// What `target data` and `target enter data` hold: memory that regions may use by its address.
#pragma once

#include <cstddef>
#include <optional>

namespace poise::openmp_target {

struct Range {
  char* begin;
  std::size_t bytes;
};

/// Counted: what was added twice, or a part of it, is held until removed as often, or for good.
void hold(Range range);
void release(Range range, bool for_good);
/// The memory held around an address.
std::optional<Range> held_around(void* address);

/// Ends the program unless all of it is held, as the modifier `present` demands.
void need_present(Range range);

/// Pointers that were mapped with what they point to; counted likewise.
void attach(void* pointer);
void detach(void* pointer, bool for_good);
bool attached_within(Range range);

}  // namespace poise::openmp_target
