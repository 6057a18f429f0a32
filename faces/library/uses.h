// SPDX-License-Identifier: BSD-3-Clause
// Which calls use a handle at the moment. Builds with assertions refuse a call that changes a
// handle while another call uses it, such as one on another thread or the one that calls a
// callback.
#pragma once

#include <atomic>
#include <cstddef>

#include "poise/base/check.h"

namespace poise::library {

/// The number of calls that read a handle, or -1 while a call changes it.
using Users = std::atomic<int>;

/// Counts the current call among the users until the call ends. Returns false if it must wait for
/// another call.
bool begin_use(Users& users, bool changes);

/// One call of the C interface, at whose end its uses end. Callbacks may nest calls.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::size_t uses_before_;
};

}  // namespace poise::library
