// What `target data` and `target enter data` hold: memory that regions may use by its address.
#pragma once

#include <cstddef>
#include <optional>

namespace poise::openmp_target {

struct Range {
  char* begin;
  std::size_t bytes;
};

/// Counted: what was added twice is held until removed twice.
void hold(Range range);
void release(Range range);
/// The memory held around an address.
std::optional<Range> held_around(void* address);

}  // namespace poise::openmp_target
