// SPDX-License-Identifier: BSD-3-Clause
// The text of an error, for tests that check what it says.
#pragma once

#include <string>

#include "poise/base/error.h"

namespace poise {

/// Calls `call`. Returns the text of the Error that it throws, or "no error".
template <typename Call>
std::string text_of_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace poise
