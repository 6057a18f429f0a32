// SPDX-License-Identifier: BSD-3-Clause
// Stores the affinities that threads had before they were pinned.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "runtimes/juggle/cpus.h"

namespace poise::juggle {

/// The affinity that a thread had before the balancer first changed it.
struct OwnAffinity {
  pid_t process = 0, thread = 0;
  std::uint64_t start_time = 0;
  CpuSet set = {};
};

/// The interface to a store. Class Guard (guard.h) implements it; tests use SimulatedStore.
class AffinityStore {
 public:
  virtual ~AffinityStore() = default;
  /// Stores an affinity; call it before the thread is pinned. Returns false if there is no room.
  virtual bool keep(std::uint64_t key, const OwnAffinity& own) = 0;
  /// Forgets an affinity: it has been restored, or the thread is dead.
  virtual void drop(std::uint64_t key) = 0;
  virtual std::optional<OwnAffinity> kept(std::uint64_t key) const = 0;
};

}  // namespace poise::juggle
