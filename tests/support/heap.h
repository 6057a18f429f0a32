// SPDX-License-Identifier: BSD-3-Clause
// Counts the heap memory of a program. One source of the program includes this file, which replaces
// operator new and operator delete.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace poise::heap {

/// The number of bytes in use, its maximum so far, and the size of the largest allocation so far.
/// Tests may reset the maximum and the largest allocation.
inline std::atomic<std::size_t> bytes{0}, peak_bytes{0}, largest_bytes{0};

inline void raise(std::atomic<std::size_t>& most, std::size_t value) {
  for (std::size_t before = most; before < value && !most.compare_exchange_weak(before, value);) {
  }
}

}  // namespace poise::heap

// These functions are not inlined; otherwise the compiler would warn that malloc and delete do not
// match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  poise::heap::raise(poise::heap::peak_bytes, poise::heap::bytes += malloc_usable_size(memory));
  poise::heap::raise(poise::heap::largest_bytes, size);
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  poise::heap::bytes -= malloc_usable_size(memory);
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
