// SPDX-License-Identifier: BSD-3-Clause
// A contiguous byte buffer that grows without zeroing new bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

namespace poise {

/// Returns the bytes of a Buffer to the memory resource that they came from.
struct FreeBytes {
  std::pmr::memory_resource* memory = nullptr;  // null: allocate with new[], free with delete[]
  std::size_t bytes = 0;
  void operator()(std::byte* data) const {
    memory ? memory->deallocate(data, bytes) : delete[] data;
  }
};

/// Move-only, so that no message or migrating object is copied by accident. The first byte is
/// aligned for every fundamental type.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  /// Creates an empty buffer that will allocate from `memory`, which must outlive the buffer.
  explicit Buffer(std::pmr::memory_resource* memory) : bytes_(nullptr, FreeBytes{memory}) {}
  /// Returns a Buffer that refers to bytes that it does not own. Growing it throws std::bad_alloc.
  static Buffer view(std::byte* bytes, std::size_t size) {
    Buffer buffer(std::pmr::null_memory_resource());
    buffer.bytes_.reset(bytes);
    buffer.size_ = buffer.capacity_ = size;
    return buffer;
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  /// The number of bytes that the buffer can hold without another allocation.
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto* const memory = bytes_.get_deleter().memory;
    Bytes larger(
        memory ? static_cast<std::byte*>(memory->allocate(capacity)) : new std::byte[capacity],
        FreeBytes{memory, capacity});
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  /// Changes the size. New bytes are uninitialized.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }

  void append(const void* from, std::size_t count) {
    if (count == 0) return;
    const std::size_t at = size_;
    resize(at + count);
    std::memcpy(bytes_.get() + at, from, count);
  }

  /// Appends zeros up to the next multiple of `alignment`, a power of two.
  void pad(std::size_t alignment) {
    const std::size_t at = size_, padding = -at & (alignment - 1);
    if (padding == 0) return;
    resize(at + padding);
    std::memset(bytes_.get() + at, 0, padding);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  using Bytes = std::unique_ptr<std::byte[], FreeBytes>;

  Bytes bytes_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace poise
