// SPDX-License-Identifier: BSD-3-Clause
// Code that all fuzzers share. Bad input may be refused with an Error; any other failure is a
// defect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "poise/base/error.h"

/// libFuzzer's entry point, defined once in each *_fuzz.cc. Without libFuzzer replay_test.cc calls
/// it with the seeds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace poise {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Calls the reader `read`. Returns false if the reader refused its input by an Error.
template <typename Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace poise
