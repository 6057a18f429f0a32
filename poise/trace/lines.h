// SPDX-License-Identifier: BSD-3-Clause
// Reads text files line by line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "poise/base/error.h"

namespace poise {

/// The lines of a text file, in order. `file` and `text` are not copied, so they must outlive this
/// object.
class Lines {
 public:
  Lines(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  /// Returns the next line without its '\n', or nothing after the last line.
  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    ++number_;
    return line;
  }

  const std::string& file() const { return file_; }
  /// The number of the line that next() returned last; the first line is 1.
  std::size_t number() const { return number_; }

  /// Throws Error, whose text names the file and the line that next() returned last.
  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {}", file_, number_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const std::string& file_;
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace poise
