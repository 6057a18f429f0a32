// Where the affinities that threads had are kept until they get them back.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "runtimes/juggle/cpus.h"

namespace poise::juggle {

/// The affinity of a thread before it was first touched.
struct OwnAffinity {
  pid_t process = 0, thread = 0;
  std::uint64_t start_time = 0;
  CpuSet set = {};
};

/// The guard is one; tests use memory of their own.
class AffinityStore {
 public:
  virtual ~AffinityStore() = default;
  /// Keeps an affinity, before the thread is first touched. False when there is no room.
  virtual bool keep(std::uint64_t key, const OwnAffinity& own) = 0;
  /// The thread has its own affinity again, or is dead.
  virtual void drop(std::uint64_t key) = 0;
  virtual std::optional<OwnAffinity> kept(std::uint64_t key) const = 0;
};

}  // namespace poise::juggle
