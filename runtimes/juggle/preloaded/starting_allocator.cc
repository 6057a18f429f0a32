// SPDX-License-Identifier: BSD-3-Clause
// An allocator for a test of the preloaded library. Like jemalloc, it calls syscall() while it
// starts. If it is called again while it starts, it aborts; jemalloc would deadlock.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

enum class State { unused, starting, ready };

constinit State state = State::unused;
alignas(std::max_align_t) char memory[1 << 24];
std::size_t used = 0;

void start() {
  state = State::starting;
  ::syscall(SYS_getpid);
  state = State::ready;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t bytes) {
  if (state == State::starting) std::abort();
  if (state == State::unused) start();
  constexpr std::size_t kUnit = sizeof(std::max_align_t);
  const std::size_t taken = (bytes / kUnit + 1) * kUnit;
  if (bytes > sizeof memory || taken > sizeof memory - used) return nullptr;
  used += taken;
  return memory + used - taken;
}

void* calloc(std::size_t count, std::size_t bytes) {
  return malloc(count * bytes);  // blocks are never reused, so all their bytes are 0
}

void* realloc(void* old, std::size_t bytes) {
  char* const block = static_cast<char*>(malloc(bytes));
  if (block == nullptr || old == nullptr) return block;
  // The length of the old block is unknown, so this may copy bytes beyond the end of that block.
  // These bytes are in `memory` too, so reading them is safe.
  const std::size_t length = memory + used - static_cast<char*>(old);
  std::memmove(block, old, bytes < length ? bytes : length);
  return block;
}

void free(void* /*block*/) {}

}  // extern "C"
