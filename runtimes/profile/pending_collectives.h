// SPDX-License-Identifier: BSD-3-Clause
// Follows non-blocking and persistent collectives from the calls that begin them to the calls that
// wait for them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/profile/interpret.h"
#include "runtimes/profile/key_table.h"

namespace poise::profile {

/// The call that waited for a sampled non-blocking collective.
struct Completion {
  std::uint64_t communicator = 0, sequence = 0;  // the collective's sample (samples.h)
  std::int64_t wait_begun_ns = 0, took_ns = 0;   // start and duration of the wait
};

class PendingCollectives {
 public:
  /// Records that a call has begun the collective of `request`. `communicator` is 0 if the
  /// collective is not sampled.
  void begin(Word request, std::uint64_t communicator, std::uint64_t sequence,
             bool is_persistent = false) {
    pending_[request] = {communicator, sequence, is_persistent};
  }
  bool is_idle() const { return pending_.size() == 0; }
  /// To be called before the initial thread waits for requests or tests them, unless is_idle() is
  /// true.
  void before(const Function& function, const Arguments& arguments);
  /// To be called after a successful call that waits for requests or tests them. The wait began at
  /// `begun_ns`, with this call or with the first of several tests in a loop, and ended at
  /// `left_ns`. Returns true if the rank may have waited for other ranks.
  bool after(const Function& function, const Arguments& arguments, std::int64_t begun_ns,
             std::int64_t left_ns);
  /// Forgets the requests of the call for which before() was called last. To be called if that call
  /// failed, because then it is not known which of its requests still exist.
  void forget_call();
  /// Forgets the requests of a call made by a thread other than the initial one, because the times
  /// of such calls are not recorded.
  void forget(const Function& function, const Arguments& arguments);
  void forget(Word request) { pending_.erase(request); }

  const std::vector<Completion>& completions() const { return completions_; }

 private:
  struct Pending {
    std::uint64_t communicator = 0, sequence = 0;
    bool is_persistent = false;
  };
  struct Active {  // a request of the call that is running
    Word request;
    int index;  // in the call's array of requests
    Pending collective;
  };
  std::vector<Active> found(const Function& function, const Arguments& arguments);

  KeyTable<Pending> pending_;  // by request
  std::vector<Active> active_;
  std::vector<Completion> completions_;
};

}  // namespace poise::profile
