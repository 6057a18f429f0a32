// SPDX-License-Identifier: BSD-3-Clause
// Objects with given loads, for tests that measure loads.
#pragma once

#include "runtimes/objects/collection.h"

#include "poise/base/clock.h"

namespace poise::objects {

/// Each step uses `load_s` seconds of CPU time. So the measured load does not depend on how busy
/// the machine is.
struct Heavy {
  double load_s = 0;
  void step(const Inbox&, Outbox&) {
    for (const double end_s = thread_cpu_now_s() + load_s; thread_cpu_now_s() < end_s;) {
    }
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(load_s);
  }
};

}  // namespace poise::objects
