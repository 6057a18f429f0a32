// SPDX-License-Identifier: BSD-3-Clause
// The data items of a task: address, length and direction of each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <source_location>
#include <span>
#include <type_traits>

namespace poise::tasks {

/// The direction in which an item (an argument or result of a task) travels when the task runs on
/// another rank. A literal is an argument that is copied when the task is submitted. A result is a
/// Buffer that the task fills; on the owner rank it is valid until the wait ends.
enum class Mode : std::uint8_t { in, out, inout, literal, result };

struct Item {
  void* data = nullptr;  // may be null; then the task gets null on every rank
  std::size_t bytes : 56 = 0;
  Mode mode : 8 = Mode::in;

  /// Writes whole words, because a read that spans several narrower writes stalls until these have
  /// left the store buffer.
  static Item of(void* data, std::size_t bytes, Mode mode) {
    struct Words {
      void* data;
      std::uint64_t rest;
    };
    if constexpr (std::endian::native != std::endian::little) return {data, bytes, mode};
    constexpr int kShift = 56;
    const std::uint64_t length = bytes & ((std::uint64_t{1} << kShift) - 1);
    return std::bit_cast<Item>(Words{data, length | static_cast<std::uint64_t>(mode) << kShift});
  }

  bool goes_out() const { return mode != Mode::out && mode != Mode::result; }
  bool comes_back() const { return mode == Mode::out || mode == Mode::inout; }
  bool is_value() const { return mode == Mode::literal && data; }
};

/// The items of one task. Up to four items, enough for most tasks, are stored in the task itself.
class Items {
 public:
  void assign(std::span<const Item> items) { std::ranges::copy(items, resize(items.size())); }
  /// Drops the present items and makes room for `size` new ones. Returns the first.
  Item* resize(std::size_t size) {
    heap_ = size > inline_.size() ? std::make_unique<Item[]>(size) : nullptr;
    size_ = size;
    return begin();
  }
  std::size_t size() const { return size_; }
  Item* begin() { return heap_ ? heap_.get() : inline_.data(); }
  Item* end() { return begin() + size_; }
  const Item* begin() const { return heap_ ? heap_.get() : inline_.data(); }
  const Item* end() const { return begin() + size_; }
  Item& operator[](std::size_t i) { return begin()[i]; }
  const Item& operator[](std::size_t i) const { return begin()[i]; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<Item[]> heap_;
  std::array<Item, 4> inline_;
};

/// An argument that refers to data of the caller, which must stay valid until the task is done.
template <typename T, Mode mode>
struct Reference {
  static_assert(std::is_trivially_copyable_v<T>, "items are copied byte by byte");
  std::span<T> data;
  std::source_location where;  // location of the call of in(), out() or inout()
};

/// An argument that the task only reads.
template <std::ranges::contiguous_range Range>
auto in(const Range& range, std::source_location where = std::source_location::current()) {
  using T = std::ranges::range_value_t<Range>;
  return Reference<const T, Mode::in>{{std::ranges::data(range), std::ranges::size(range)}, where};
}
/// An argument that the task writes without reading it: on another rank it starts uninitialised.
template <std::ranges::contiguous_range Range>
auto out(Range&& range, std::source_location where = std::source_location::current()) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  static_assert(!std::is_const_v<T>);
  return Reference<T, Mode::out>{{std::ranges::data(range), std::ranges::size(range)}, where};
}
/// An argument that the task reads and writes.
template <std::ranges::contiguous_range Range>
auto inout(Range&& range, std::source_location where = std::source_location::current()) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  static_assert(!std::is_const_v<T>);
  return Reference<T, Mode::inout>{{std::ranges::data(range), std::ranges::size(range)}, where};
}

}  // namespace poise::tasks
