// SPDX-License-Identifier: BSD-3-Clause
// Counts the calls that use a handle at the moment. Builds with assertions refuse a call that
// changes a handle while another call uses it. The other call may run on another thread. It may
// also run on this thread, namely if one of its callbacks makes the call that changes the handle.
#pragma once

#include <atomic>
#include <cstddef>

#include "poise/base/check.h"

namespace poise::library {

/// The number of calls that read a handle, or -1 while a call changes it.
using Users = std::atomic<int>;

/// Counts the current call among the users of a handle until the call ends. Returns false if
/// another call uses the handle at the moment, and at least one of the two calls changes it.
/// `changes` says whether the current call changes the handle.
bool begin_use(Users& users, bool changes);

/// A call of the C interface. When it ends, it stops using its handles. A callback may make further
/// calls, so calls may be nested.
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
