// SPDX-License-Identifier: BSD-3-Clause
// Reads binary files from start to end, but never past the end.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "poise/base/error.h"

namespace poise {

/// A position in the bytes of a file. Integers are little-endian. A read past the end throws Error
/// with the file and the byte offset.
class Cursor {
 public:
  /// `offset` is the position in the file at which `bytes` begin. `file` and `bytes` are not
  /// copied, so they must outlive the cursor.
  Cursor(const std::string& file, std::string_view bytes, std::uint64_t offset)
      : file_(&file),
        begin_(bytes.data()),
        next_(begin_),
        end_(begin_ + bytes.size()),
        offset_(offset) {}

  std::uint64_t offset() const { return offset_ + (next_ - begin_); }
  std::size_t remaining() const { return end_ - next_; }
  const std::string& file() const { return *file_; }

  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: byte {}: {}", *file_, offset(), fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view take(std::uint64_t size) {
    if (size > remaining())
      fail_here("{} bytes should follow, but there are only {}", size, remaining());
    const std::string_view bytes(next_, size);
    next_ += size;
    return bytes;
  }

  template <typename Unsigned>
  Unsigned fixed() {
    Unsigned value = 0;
    const std::string_view bytes = take(sizeof value);
    for (std::size_t i = 0; i < sizeof value; ++i)
      value |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<unsigned char>(bytes[i]))
                                     << (8 * i));
    return value;
  }

  double f64() { return std::bit_cast<double>(fixed<std::uint64_t>()); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (next_ == end_) fail_here("the file ends inside a number");
      const unsigned char byte = *next_;
      if (shift == 63 && byte > 1) fail_here("a number has more than 64 bits");
      ++next_;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return (value >> 1) ^ (0 - (value & 1));
  }

  /// Reads a number below `end`; `what` is its name in the error.
  template <typename Unsigned>
  Unsigned below(std::uint64_t end, const char* what) {
    const std::uint64_t value = varint();
    if (value >= end) fail_here("{} {} is too large; there are {}", what, value, end);
    return static_cast<Unsigned>(value);
  }

 private:
  const std::string* file_;
  const char *begin_, *next_, *end_;
  std::uint64_t offset_;
};

}  // namespace poise
