// SPDX-License-Identifier: BSD-3-Clause
// Receives reports from the library that is preloaded into the program: which of the program's
// threads wait. A descriptor becomes readable when a thread begins to wait.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>

#include "runtimes/juggle/program.h"
#include "runtimes/juggle/threads.h"
#include "runtimes/juggle/wait_table.h"

#include "poise/online/juggle.h"

namespace poise::juggle {

class WaitWatch {
 public:
  /// `library` is the path of the library to preload. Throws if the library cannot be read, if its
  /// path has a character that LD_PRELOAD does not allow, or if the system refuses shared memory or
  /// a thread.
  explicit WaitWatch(const std::string& library);
  ~WaitWatch();
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;

  /// The environment variables that make the program load the library and tell the library where
  /// the table is.
  Environment environment() const;
  /// The descriptor that becomes readable when a thread has begun to wait.
  int descriptor() const { return news_.get(); }
  /// Makes the descriptor unreadable until the next thread begins to wait.
  void take_news();
  /// Returns what the thread reports about its waits, or nothing if it has reported nothing yet.
  std::optional<WaitReport> report_of(pid_t thread) const;
  /// Frees the entry of a thread that has ended.
  void forget(pid_t thread);

 private:
  void listen();

  std::string library_;
  Descriptor file_, news_;
  WaitTable* table_ = nullptr;
  std::atomic<bool> is_over_ = false;
  std::thread listener_;  // sleeps on the table's futex, because poll() cannot wait for a futex
};

}  // namespace poise::juggle
