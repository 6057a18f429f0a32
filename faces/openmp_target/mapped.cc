#include "faces/openmp_target/mapped.h"

#include <map>
#include <mutex>

namespace poise::openmp_target {

namespace {

struct Held {
  std::size_t bytes = 0, times = 0;
};

std::mutex mutex;
std::map<char*, Held> ranges;  // by begin; OpenMP forbids that they overlap otherwise

}  // namespace

void hold(Range range) {
  const std::lock_guard lock(mutex);
  Held& held = ranges[range.begin];
  if (held.bytes < range.bytes) held.bytes = range.bytes;
  ++held.times;
}

void release(Range range) {
  const std::lock_guard lock(mutex);
  const auto found = ranges.find(range.begin);
  if (found != ranges.end() && --found->second.times == 0) ranges.erase(found);
}

std::optional<Range> held_around(void* address) {
  auto* const at = static_cast<char*>(address);
  const std::lock_guard lock(mutex);
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return std::nullopt;
  const auto& [begin, held] = *--next;
  if (at >= begin + held.bytes) return std::nullopt;
  return Range{begin, held.bytes};
}

}  // namespace poise::openmp_target
