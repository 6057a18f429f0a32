// SPDX-License-Identifier: BSD-3-Clause
// The bytes of messages: aligned memory, a writer and a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "poise/base/check.h"

namespace poise::tasks {

/// Items are aligned to a cache line.
inline constexpr std::size_t kAlignment = 64;

/// Rounds up to a multiple of `alignment`, which is a power of two.
inline std::size_t aligned(std::size_t bytes, std::size_t alignment = kAlignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

/// Allocates uninitialised memory for items of any type.
inline std::shared_ptr<std::byte> new_bytes(std::size_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, aligned(bytes > 0 ? bytes : 1));
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

/// Memory that is sent or received without a copy.
struct Payload {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A location in the shared memory of a node (arena.h). It identifies the same bytes in every
/// process, although each process may have mapped them at a different address.
struct Spot {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&value, sizeof(T), 1);
  }
  void put(const void* data, std::size_t bytes, std::size_t alignment) {
    const std::size_t begin = aligned(bytes_.size(), alignment);
    bytes_.resize(begin + bytes);
    if (bytes > 0) std::memcpy(bytes_.data() + begin, data, bytes);
  }
  template <typename T>
  void patch(std::size_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, get(sizeof(T), 1), sizeof(T));
    return value;
  }
  std::byte* get(std::size_t bytes, std::size_t alignment) {
    const std::size_t begin = aligned(next_, alignment);
    POISE_CHECK(begin <= bytes_.size() && bytes <= bytes_.size() - begin);
    next_ = begin + bytes;
    return bytes_.data() + begin;
  }

 private:
  std::span<std::byte> bytes_;
  std::size_t next_ = 0;
};

}  // namespace poise::tasks
