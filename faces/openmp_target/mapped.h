// The memory that `target data` and `target enter data` hold; regions may use it by its address.
#pragma once

#include <cstddef>
#include <optional>

namespace poise::openmp_target {

struct Range {
  char* begin;
  std::size_t bytes;
};

/// Reference counted: a range added twice is held until it is removed twice, or removed for good.
void hold(Range range);
void release(Range range, bool for_good);
/// The held range that contains an address.
std::optional<Range> held_around(void* address);

/// Ends the program unless all of it is held, as the modifier `present` requires.
void need_present(Range range);

/// Pointers that were mapped together with their targets; reference counted, too.
void attach(void* pointer);
void detach(void* pointer, bool for_good);
bool attached_within(Range range);

}  // namespace poise::openmp_target
