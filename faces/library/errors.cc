// SPDX-License-Identifier: BSD-3-Clause
// Converts exceptions to result codes of libpoise, and returns the last error and the version.
#include <new>
#include <utility>

#include "faces/library/handles.h"

#include "poise/base/version.h"

namespace poise::library {

namespace {

thread_local std::string last_error;

}  // namespace

void set_last_error(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  last_error = std::move(text);
}

int result_of_exception(const char* function) noexcept {
  try {
    try {
      throw;
    } catch (const Cancelled&) {
      set_last_error(fmt::format("{}: the callback asked to stop", function));
      return POISE_CANCELLED;
    } catch (const SystemError& error) {
      set_last_error(fmt::format("{}: {}", function, error.what()));
    } catch (const Error& error) {
      set_last_error(fmt::format("{}: {}", function, error.what()));
      return POISE_BAD_INPUT;
    } catch (const std::bad_alloc&) {
      set_last_error(fmt::format("{}: there is not enough memory", function));
    } catch (...) {
      set_last_error(fmt::format("{}: {}", function, thrown_text()));
    }
  } catch (...) {  // there was no memory for the error text
    last_error.clear();
  }
  return POISE_FAILED;
}

}  // namespace poise::library

const char* poise_last_error(void) { return poise::library::last_error.c_str(); }
const char* poise_version(void) { return poise::version(); }
const char* poise_built_with(void) { return poise::built_with(); }
