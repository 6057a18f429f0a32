// SPDX-License-Identifier: BSD-3-Clause
// Serialization of objects and task arguments that travel between processes of one program.
//
// Trivially copyable types and standard containers need no code. Any other type lists its members
// once, for writing and reading, in the form that cereal uses:
//
//     template <typename Archive>
//     void serialize(Archive& archive) { archive(position, velocity, neighbours); }
//
// Alternatives: a free function serialize(archive, value) in the namespace of the type, for a type
// that you cannot change; or two members save(archive) const and load(archive). cereal's wrappers
// for named values (CEREAL_NVP) and base classes (cereal::base_class) are accepted and ignored.
//
// A std::span<const T> is written like a vector and read without a copy: it refers to the bytes of
// the archive. The bytes have this machine's byte order and layout, so they are not suitable as a
// file format.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtimes/archive/buffer.h"

#include "poise/base/error.h"

namespace cereal {
template <class T>
class NameValuePair;
template <class T>
struct base_class;
}  // namespace cereal

namespace poise {

class Writer;

template <typename T, typename Archive = Writer>
concept SerializesItself = requires(T& value, Archive& archive) { value.serialize(archive); };

template <typename T, typename Archive = Writer>
concept SerializedBeside = requires(T& value, Archive& archive) { serialize(archive, value); };

template <typename T, typename Archive = Writer>
concept SavesAndLoads = requires(T& value, const T& constant, Archive& archive) {
  constant.save(archive);
  value.load(archive);
};

/// True if T is one of cereal's wrappers around a value: NameValuePair or base_class.
template <typename T>
inline constexpr bool kIsWrapped = false;
template <typename T>
inline constexpr bool kIsWrapped<cereal::NameValuePair<T>> = true;
template <typename T>
inline constexpr bool kIsWrapped<cereal::base_class<T>> = true;

template <typename T>
inline constexpr bool kIsView = false;
template <typename T>
inline constexpr bool kIsView<std::span<T>> = true;
template <>
inline constexpr bool kIsView<std::string_view> = true;
template <typename T>
concept IsView = kIsView<T>;

/// True if T is copied byte by byte. Pointers are refused, because another process cannot follow
/// them.
template <typename T>
concept RawBytes =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !IsView<T> && !kIsWrapped<T> &&
    !SerializesItself<T> && !SerializedBeside<T> && !SavesAndLoads<T>;

namespace archived {

template <typename Archive, typename T>
void visit(Archive& archive, T& value);

template <typename>
inline constexpr bool kNever = false;

/// The type into which an element of a container is read. For a map, this is a pair whose key is
/// not const, because the const key of the map's value_type cannot be assigned.
template <typename T>
struct Element {
  using type = T;
};
template <typename A, typename B>
struct Element<std::pair<const A, B>> {
  using type = std::pair<A, B>;
};

template <typename Archive, typename Value>
std::uint64_t visit_count(Archive& archive, const Value& value) {
  std::uint64_t count = 0;
  if constexpr (!Archive::is_loading) count = value.size();
  archive.raw(&count, sizeof count);
  return count;
}

/// Serializes strings and vectors of trivially copyable elements, with one memcpy for all elements.
template <typename Archive, typename Sequence>
void visit_block(Archive& archive, Sequence& sequence) {
  using T = typename Sequence::value_type;
  const std::uint64_t count = visit_count(archive, sequence);
  if (count == 0) return sequence.clear();
  archive.align(alignof(T));
  if constexpr (Archive::is_loading) {
    const std::byte* from = archive.take(count, sizeof(T));
    if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0) {
      const T* items = reinterpret_cast<const T*>(from);
      sequence.assign(items, items + count);
      return;
    }
    sequence.resize(count);
    std::memcpy(static_cast<void*>(sequence.data()), from, count * sizeof(T));
  } else {
    archive.raw(sequence.data(), count * sizeof(T));
  }
}

/// Serializes any other container that has insert(end, element), element by element.
template <typename Archive, typename Container>
void visit_container(Archive& archive, Container& container) {
  const std::uint64_t count = visit_count(archive, container);
  if constexpr (Archive::is_loading) {
    container.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      typename Element<typename Container::value_type>::type element{};
      visit(archive, element);
      container.insert(container.end(), std::move(element));
    }
  } else {
    for (const auto& element : container) {
      if constexpr (std::same_as<typename Container::value_type, bool>) {
        const bool copy = element;
        archive.raw(&copy, sizeof copy);
      } else {
        visit(archive, const_cast<typename Container::value_type&>(element));
      }
    }
  }
}

/// Serializes types that may be empty: std::optional and std::unique_ptr.
template <typename Archive, typename Holder, typename Make>
void visit_holder(Archive& archive, Holder& holder, Make make) {
  bool is_there = static_cast<bool>(holder);
  archive.raw(&is_there, sizeof is_there);
  if constexpr (Archive::is_loading) {
    holder.reset();
    if (is_there) make(holder);
  }
  if (is_there) visit(archive, *holder);
}

template <typename Archive, typename... Ts>
void visit_variant(Archive& archive, std::variant<Ts...>& value) {
  std::uint64_t index = value.index();
  archive.raw(&index, sizeof index);
  if constexpr (Archive::is_loading) {
    if (index >= sizeof...(Ts))
      fail(
          "archive: the bytes select alternative {} of a std::variant that has only {} "
          "alternatives; read the same type that was written",
          index, sizeof...(Ts));
    std::uint64_t i = 0;
    ((i++ == index ? void(value = Ts{}) : void()), ...);
  }
  std::visit([&](auto& alternative) { visit(archive, alternative); }, value);
}

template <typename Archive, typename T>
void visit_kind(Archive& archive, cereal::NameValuePair<T>& named) {
  visit(archive, named.value);
}
template <typename Archive, typename Base>
void visit_kind(Archive& archive, cereal::base_class<Base>& base) {
  visit(archive, *base.base_ptr);
}
template <typename Archive, typename T, std::size_t N>
void visit_kind(Archive& archive, std::array<T, N>& value) {
  for (T& element : value) visit(archive, element);
}
template <typename Archive, typename A, typename B>
void visit_kind(Archive& archive, std::pair<A, B>& value) {
  visit(archive, const_cast<std::remove_const_t<A>&>(value.first));
  visit(archive, value.second);
}
template <typename Archive, typename... Ts>
void visit_kind(Archive& archive, std::tuple<Ts...>& value) {
  std::apply([&](Ts&... parts) { (visit(archive, parts), ...); }, value);
}
template <typename Archive, typename T>
void visit_kind(Archive& archive, std::optional<T>& value) {
  visit_holder(archive, value, [](auto& holder) { holder.emplace(); });
}
template <typename Archive, typename T>
void visit_kind(Archive& archive, std::unique_ptr<T>& value) {
  static_assert(
      !std::is_polymorphic_v<T>,
      "cannot serialize a unique_ptr to a polymorphic class: the derived type is unknown");
  visit_holder(archive, value, [](auto& holder) { holder = std::make_unique<T>(); });
}
template <typename Archive, typename... Ts>
void visit_kind(Archive& archive, std::variant<Ts...>& value) {
  visit_variant(archive, value);
}
template <typename Archive, RawBytes T>
void visit_kind(Archive& archive, std::span<const T>& view) {
  const std::uint64_t count = visit_count(archive, view);
  if (count > 0) archive.align(alignof(T));  // an empty vector is written without padding
  if constexpr (Archive::is_loading) {
    const std::byte* from = archive.take(count, sizeof(T));
    if (count > 0 && reinterpret_cast<std::uintptr_t>(from) % alignof(T) != 0)
      fail("archive: a std::span cannot refer to unaligned bytes; read them into a std::vector");
    view = {reinterpret_cast<const T*>(from), count};
  } else {
    archive.raw(view.data(), view.size_bytes());
  }
}
template <typename Archive, typename T>
  requires requires(T& container) { container.insert(container.end(), *container.begin()); }
void visit_kind(Archive& archive, T& container) {
  using Element = typename T::value_type;
  if constexpr (RawBytes<Element> && !std::same_as<Element, bool> && requires { container.data(); })
    visit_block(archive, container);
  else
    visit_container(archive, container);
}

template <typename Archive, typename T>
void visit_pair(Archive& archive, T& value) {
  if constexpr (Archive::is_loading)
    value.load(archive);
  else
    std::as_const(value).save(archive);
}

template <typename Archive, typename T>
void visit(Archive& archive, T& value) {
  static_assert(!std::is_pointer_v<T>,
                "cannot serialize a pointer: it is meaningless in another process");
  if constexpr (SerializesItself<T, Archive>)
    value.serialize(archive);
  else if constexpr (SerializedBeside<T, Archive>)
    serialize(archive, value);
  else if constexpr (SavesAndLoads<T, Archive>)
    visit_pair(archive, value);
  else if constexpr (RawBytes<T>)
    archive.raw(&value, sizeof value);
  else if constexpr (requires { visit_kind(archive, value); })
    visit_kind(archive, value);
  else
    static_assert(kNever<T>, "cannot serialize this type: give it a function serialize(archive)");
}

}  // namespace archived

/// Counts the bytes that a Writer would append to a buffer.
class Sizer {
 public:
  static constexpr bool is_loading = false;
  template <typename... Ts>
  void operator()(const Ts&... values) {
    (archived::visit(*this, const_cast<Ts&>(values)), ...);
  }
  std::size_t bytes() const { return bytes_; }

  void raw(const void*, std::size_t count) { bytes_ += count; }
  void align(std::size_t alignment) { bytes_ += -bytes_ & (alignment - 1); }

 private:
  std::size_t bytes_ = 0;
};

/// Appends values to a buffer: writer(a, b, c).
class Writer {
 public:
  static constexpr bool is_loading = false;
  explicit Writer(Buffer& buffer) : buffer_(buffer), begin_(buffer.size()) {}
  template <typename... Ts>
  void operator()(const Ts&... values) {
    (archived::visit(*this, const_cast<Ts&>(values)), ...);
  }

  void raw(const void* from, std::size_t count) { buffer_.append(from, count); }
  /// Appends zeros up to the next multiple of `alignment`, counted from the first byte of this
  /// archive.
  void align(std::size_t alignment) {
    const std::size_t at = buffer_.size(), padding = -(at - begin_) & (alignment - 1);
    if (padding == 0) return;
    buffer_.resize(at + padding);
    std::memset(buffer_.data() + at, 0, padding);
  }

 private:
  Buffer& buffer_;
  std::size_t begin_;
};

/// Reads values in the order in which a Writer wrote them: reader(a, b, c). Throws Error if the
/// bytes end too early. The bytes must outlive the reader.
class Reader {
 public:
  static constexpr bool is_loading = true;
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename... Ts>
  void operator()(Ts&&... values) {
    static_assert(((std::is_lvalue_reference_v<Ts> || kIsWrapped<Ts>)&&...),
                  "cannot read into a temporary: its value would be lost");
    (archived::visit(*this, values), ...);
  }
  std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t left() const { return remaining(); }  // deprecated name of remaining()

  void raw(void* to, std::size_t count) { std::memcpy(to, take(count, 1), count); }
  void align(std::size_t alignment) { take(-at_ & (alignment - 1), 1); }
  const std::byte* take(std::uint64_t count, std::size_t size) {
    if (count > remaining() / size)
      fail(
          "archive: cannot read {} items of {} bytes each at offset {}, because there are only {} "
          "bytes in total; the bytes are incomplete or contain another type",
          count, size, at_, bytes_.size());
    const std::byte* from = bytes_.data() + at_;
    at_ += count * size;
    return from;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Serializes a value into a buffer of exactly the size needed.
template <typename T>
Buffer to_bytes(const T& value) {
  Sizer sizer;
  sizer(value);
  Buffer buffer;
  buffer.reserve(sizer.bytes());
  Writer writer(buffer);
  writer(value);
  return buffer;
}

/// Deserializes a value. Throws Error unless the bytes hold exactly one T.
template <typename T>
T from_bytes(std::span<const std::byte> bytes) {
  T value{};
  Reader reader(bytes);
  reader(value);
  if (reader.remaining() != 0)
    fail(
        "archive: {} of {} bytes are left after the value was read; read the same type that was "
        "written",
        reader.remaining(), bytes.size());
  return value;
}

}  // namespace poise
