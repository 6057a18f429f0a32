// SPDX-License-Identifier: BSD-3-Clause

#include "faces/openmp_target/mapped.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "faces/openmp_target/trouble.h"

namespace poise::openmp_target {

namespace {

struct Held {
  std::size_t bytes = 0, times = 0;
};

std::mutex mutex;
std::map<char*, Held> ranges;  // mapped ranges by first address; OpenMP forbids overlaps
std::map<char*, std::size_t> pointers;

std::map<char*, Held>::iterator around(char* at) {
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return ranges.end();
  --next;
  return at < next->first + next->second.bytes ? next : ranges.end();
}

}  // namespace

void hold(Range range) {
  const std::lock_guard lock(mutex);
  const auto found = around(range.begin);
  char* const begin = found == ranges.end() ? range.begin : found->first;
  Held& held = ranges[begin];
  held.bytes = std::max(held.bytes, range.begin - begin + range.bytes);
  ++held.times;
}

void release(Range range, bool for_good) {
  const std::lock_guard lock(mutex);
  const auto found = around(range.begin);
  if (found != ranges.end() && (--found->second.times == 0 || for_good)) ranges.erase(found);
}

std::optional<Range> held_around(void* address) {
  const std::lock_guard lock(mutex);
  const auto found = around(static_cast<char*>(address));
  if (found == ranges.end()) return std::nullopt;
  return Range{found->first, found->second.bytes};
}

void need_present(Range range) {
  if (!range.begin) return;
  const auto held = held_around(range.begin);
  if (!held || range.begin + range.bytes > held->begin + held->bytes)
    end("the modifier `present` names memory that no `target data` has mapped");
}

void attach(void* pointer) {
  const std::lock_guard lock(mutex);
  ++pointers[static_cast<char*>(pointer)];
}

void detach(void* pointer, bool for_good) {
  const std::lock_guard lock(mutex);
  const auto found = pointers.find(static_cast<char*>(pointer));
  if (found != pointers.end() && (--found->second == 0 || for_good)) pointers.erase(found);
}

bool attached_within(Range range) {
  const std::lock_guard lock(mutex);
  const auto found = pointers.lower_bound(range.begin);
  return found != pointers.end() && found->first < range.begin + range.bytes;
}

}  // namespace poise::openmp_target
