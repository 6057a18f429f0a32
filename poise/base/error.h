// SPDX-License-Identifier: BSD-3-Clause
// The library's exceptions: Error for bad input, SystemError if the system fails. The text of an
// exception is one line, written for the user.
#pragma once

#include <exception>
#include <fmt/core.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace poise {

/// Bad input. The text says what is wrong, where, and what would work: one line, no full stop.
/// Programs print it after their name and exit with status 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The system fails although the input is right, for example because the disk is full. Programs
/// exit with status 1.
class SystemError : public Error {
 public:
  using Error::Error;
};

/// Returns the text of the exception being handled. Must be called inside a catch clause.
inline std::string thrown_text() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

/// Throws Error with a text formatted by fmt.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace poise
