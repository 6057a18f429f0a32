// SPDX-License-Identifier: BSD-3-Clause
// Named values that a program attaches to a task. They are read by the program's own balancing
// policy, by tools, and by the task itself.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace poise {

/// Example: `Annotations{{"cells", 120}, {"level", 2.5}, {"kind", "coast"}}`.
class Annotations {
 public:
  using Value = std::variant<std::int64_t, double, std::string>;

  Annotations() = default;
  Annotations(std::initializer_list<std::pair<const std::string, Value>> values)
      : values_(values) {}

  /// Sets a value. A second call with the same name replaces it.
  void set(std::string name, Value value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }

  bool has(std::string_view name) const { return values_.contains(name); }
  bool empty() const { return values_.empty(); }

  /// Returns the value of this name, or null if the name is unknown or its value has another type.
  /// T must be one of the types in Value.
  template <typename T>
  const T* get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(values_);
  }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace poise
