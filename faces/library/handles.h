// SPDX-License-Identifier: BSD-3-Clause
// The objects behind libpoise's handles, and the conversion of exceptions to results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "faces/library/uses.h"

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/machine/machine.h"
#include "poise/placement/problem.h"
#include "poise/poise.h"
#include "poise/trace/trace.h"

namespace poise::library {

/// The first bytes of each object behind a handle. In a language with untyped pointers, a caller
/// may pass a handle of the wrong type or of a destroyed object. As long as the memory of a
/// destroyed object has not been reused, these bytes reveal the mistake, and the library reports an
/// error instead of crashing.
template <std::uint64_t number>
class Kind {
 public:
  Kind() = default;
  ~Kind() {
    POISE_ASSERT(users_ == 0);  // fails if a call still uses the handle
    *const_cast<volatile std::uint64_t*>(&number_) = 0;
  }
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;
  bool is_right() const { return number_ == number; }
  bool begin_use(bool changes) const { return library::begin_use(users_, changes); }

 private:
  std::uint64_t number_ = number;
  mutable Users users_ = 0;  // number of calls that use the handle; 0 without assertions
};

/// Thrown when a callback of the caller requests to stop.
struct Cancelled {};

void set_last_error(std::string text);
/// Returns the result code for the current exception, and stores its text as the last error.
int result_of_exception(const char* function) noexcept;

/// Runs the body of a function of the C interface and converts exceptions to result codes.
template <typename Body>
int guarded(const char* function, const Body& body) noexcept {
  try {
#if POISE_ASSERTIONS >= 1
    const Call call;
#endif
    body();
    return POISE_OK;
  } catch (...) {
    return result_of_exception(function);
  }
}

/// Returns the object behind a handle. `Handle` is const unless the call changes the object. Throws
/// Error if the handle is invalid. Builds with assertions also throw Error if another call uses the
/// object at the same time, and at least one of the two calls changes the object.
template <typename Handle>
Handle& checked(Handle* handle, const char* name) {
  if (handle == nullptr) fail("{} is null", name);
  if (!handle->kind.is_right())
    fail("{} is a handle of another type or of a destroyed object; pass a valid handle", name);
#if POISE_ASSERTIONS >= 1
  if (!handle->kind.begin_use(!std::is_const_v<Handle>))
    fail(
        "{} is in use by another call, and one of the two calls changes {}; make the calls one "
        "after the other",
        name, name);
#endif
  return *handle;
}

/// Frees the object behind a handle, which may be null.
template <typename Handle>
void destroy(Handle* handle) {
  POISE_ASSERT(handle == nullptr || handle->kind.is_right());
  delete handle;
}

/// Throws Error if a pointer to a result, or to a text, is null.
template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) fail("{} is null", name);
  return *pointer;
}

}  // namespace poise::library

struct poise_machine {
  poise::library::Kind<0x706f6973656d6163> kind;
  poise::Machine machine;
  std::string json;  // set by poise_machine_json(), cleared by changes of the machine
};

struct poise_workload {
  poise::library::Kind<0x706f697365776f72> kind;
  poise::Workload workload;  // the workload's messages are checked when they are set
  std::vector<std::vector<double>> past_loads_s;
};

struct poise_trace {
  poise::library::Kind<0x706f697365747261> kind;
  poise::Trace trace;
};
