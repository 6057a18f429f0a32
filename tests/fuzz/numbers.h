// SPDX-License-Identifier: BSD-3-Clause
// The input of a fuzzer that calls functions with arbitrary numbers, read one number at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace poise::fuzz {

/// The fuzzer's input as numbers; after its end, all numbers are 0.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <typename T>
  T next() {
    T value{};
    const std::size_t bytes = std::min(sizeof value, size_ - at_);
    if (bytes > 0) std::memcpy(&value, data_ + at_, bytes);
    at_ += bytes;
    return value;
  }
  std::uint32_t below(std::uint32_t limit) { return next<std::uint8_t>() % limit; }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

}  // namespace poise::fuzz
