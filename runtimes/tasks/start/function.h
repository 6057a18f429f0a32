// SPDX-License-Identifier: BSD-3-Clause
// Functions that tasks run. They are registered by name, because their addresses may differ between
// ranks.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtimes/archive/archive.h"
#include "runtimes/tasks/pool/item.h"

namespace poise::tasks {

/// The code of a registered function. The runtime calls it with one Item for each argument.
using Body = std::function<void(std::span<const Item>)>;

struct Registered {
  std::string name;
  // For each parameter, its kind and its size in bytes; for an array, the size of one element.
  // Example: "in8 out8 value4". The signature must be the same on all ranks.
  std::string signature;
  Body body;
};

/// Identifies a function in this process only; between ranks functions are identified by name.
using FunctionId = std::uint32_t;

/// Registers a function. Throws Error if the name is taken. A context knows the functions that were
/// registered before it was created.
FunctionId register_function(std::string_view name, std::string signature, Body body);

/// All registered functions, indexed by FunctionId. The pointers stay valid.
std::vector<const Registered*> registered_functions();

/// A registered function; the compiler checks the arguments of its calls.
template <typename Result, typename... Parameters>
struct Function {
  FunctionId id;
};

namespace detail {

template <typename T>
struct Parameter {  // an argument passed by value; serialized if memcpy cannot copy its type
  static std::string signature() {
    return RawBytes<T> ? "value" + std::to_string(sizeof(T)) : "archived";
  }
  static T get(const Item& item) {
    T value{};
    if constexpr (RawBytes<T>)
      std::memcpy(&value, item.data, sizeof(T));
    else
      poise::Reader({static_cast<const std::byte*>(item.data), item.bytes})(value);
    return value;
  }
};

/// Writes a function's result into `item`, the last item of the task.
template <typename T>
void put_result(const T& result, const Item& item) {
  if constexpr (RawBytes<T>) {
    std::memcpy(item.data, &result, sizeof(T));
  } else {
    auto& bytes = *static_cast<Buffer*>(item.data);
    bytes.resize(0);
    poise::Writer{bytes}(result);
  }
}

template <typename T>
struct Parameter<std::span<T>> {
  static std::string signature() {
    return (std::is_const_v<T> ? "in" : "out") + std::to_string(sizeof(T));
  }
  static std::span<T> get(const Item& item) {
    return {static_cast<T*>(item.data), item.data ? item.bytes / sizeof(T) : 0};
  }
};

template <typename T>
struct Signature;
template <typename R, typename... P>
struct Signature<R (*)(P...)> {
  using Type = Function<R, std::remove_cvref_t<P>...>;
};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};

template <typename Result, typename... Parameters, typename Callable>
Body body_of(Function<Result, Parameters...>*, Callable callable) {
  return [callable](std::span<const Item> items) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (std::is_void_v<Result>) {
        callable(Parameter<Parameters>::get(items[i])...);
      } else {
        put_result(callable(Parameter<Parameters>::get(items[i])...), items.back());
      }
    }(std::index_sequence_for<Parameters...>());
  };
}

template <typename Result, typename... Parameters>
std::string signature_of(Function<Result, Parameters...>*) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  (add(Parameter<Parameters>::signature()), ...);
  if constexpr (!std::is_void_v<Result>) add("returns " + Parameter<Result>::signature());
  return text;
}

}  // namespace detail

/// Registers a function or a lambda without captures:
///     const auto scale = tasks::function("scale", [](std::span<double> x, double by) { … });
/// A parameter `std::span<const T>` takes in(…), `std::span<T>` takes out(…) or inout(…), anything
/// else a value. Values and results may be of any type that an archive takes (archive.h).
template <typename Callable>
auto function(std::string_view name, Callable callable) {
  using Plain = decltype([] {
    if constexpr (std::is_pointer_v<Callable>)
      return std::type_identity<Callable>{};
    else
      return std::type_identity<decltype(&Callable::operator())>{};
  }());
  using Type = typename detail::Signature<typename Plain::type>::Type;
  return Type{register_function(name, detail::signature_of(static_cast<Type*>(nullptr)),
                                detail::body_of(static_cast<Type*>(nullptr), callable))};
}

}  // namespace poise::tasks
