// Data of a task: where it is, how long it is, and which way it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace poise::tasks {

/// Which way an item travels when its task runs elsewhere. A literal is copied at submission; a
/// result is a Buffer that the task fills with any number of bytes, at home there until the wait
/// ends.
enum class Mode : std::uint8_t { in, out, inout, literal, result };

struct Item {
  void* data = nullptr;  // may be null: then the task gets null, wherever it runs
  std::size_t bytes = 0;
  Mode mode = Mode::in;

  bool goes_out() const { return mode != Mode::out && mode != Mode::result; }
  bool comes_back() const { return mode == Mode::out || mode == Mode::inout; }
};

/// An argument that refers to data of the caller, which must stay until the task is done.
template <typename T, Mode mode>
struct Reference {
  static_assert(std::is_trivially_copyable_v<T>, "items are copied byte by byte");
  std::span<T> data;
};

/// Read by the task.
template <std::ranges::contiguous_range Range>
auto in(const Range& range) {
  using T = std::ranges::range_value_t<Range>;
  return Reference<const T, Mode::in>{{std::ranges::data(range), std::ranges::size(range)}};
}
/// Written by the task, unread: on another rank it starts uninitialised.
template <std::ranges::contiguous_range Range>
auto out(Range&& range) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  static_assert(!std::is_const_v<T>);
  return Reference<T, Mode::out>{{std::ranges::data(range), std::ranges::size(range)}};
}
/// Read and written.
template <std::ranges::contiguous_range Range>
auto inout(Range&& range) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  static_assert(!std::is_const_v<T>);
  return Reference<T, Mode::inout>{{std::ranges::data(range), std::ranges::size(range)}};
}

}  // namespace poise::tasks
