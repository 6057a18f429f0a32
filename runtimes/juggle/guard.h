// SPDX-License-Identifier: BSD-3-Clause
// The guard: a process that restores the affinity of every thread if the balancer is killed or
// stopped.
//
// The affinities lie in memory that the guard and the balancer share. The guard sleeps on a pipe
// whose other end only the balancer holds, so it wakes when the balancer dies. Twice a second it
// checks whether the balancer is stopped (SIGSTOP), because threads would then stay pinned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/affinity_store.h"
#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// Maximum number of threads whose affinities are stored, so that a fork bomb uses bounded memory.
constexpr std::size_t kMaxThreads = 16384;

/// Restores an affinity unless the thread has ended. Another thread may have its id by now, so the
/// start times are compared. If none of the affinity's cpus is allowed any longer, the thread gets
/// all cpus that are allowed; the kernel does the same when it takes cpus away.
void give_back(const OwnAffinity& own);

class Guard : public AffinityStore {
 public:
  /// Starts the guard process. Throws if that fails.
  Guard();
  /// Restores the affinities that are still stored, then ends the guard process.
  ~Guard() override;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  pid_t pid() const { return pid_; }
  /// True if the guard process has been killed.
  bool has_died() const;
  /// Starts a new guard process after the old one was killed. Throws if that fails.
  void restart();

  bool keep(std::uint64_t key, const OwnAffinity& own) override;
  void drop(std::uint64_t key) override;
  std::optional<OwnAffinity> kept(std::uint64_t key) const override;
  void give_all_back();

  /// If the balancer is stopped (SIGSTOP), the guard process restores the affinities of all
  /// threads, so that no thread stays pinned while the balancer is stopped. This is called a
  /// release.
  enum class Release : std::uint8_t { none, under_way, done };
  /// Tells whether the guard process is restoring affinities because the balancer was stopped. As
  /// long as the result is `under_way`, do not move threads. After that, returns `done` once, and
  /// then `none`.
  Release release();

 private:
  struct Shared;
  struct Slot;
  void start();
  [[noreturn]] void watch(int balancer_lives, pid_t balancer);
  void give_all_kept_back();
  OwnAffinity affinity_in(std::uint32_t slot) const;
  CpuSet::Word* mask_of(std::uint32_t slot) const;

  std::size_t words_per_mask_, bytes_;
  Shared* shared_ = nullptr;
  Slot* slots_ = nullptr;          // in shared memory: kMaxThreads slots
  CpuSet::Word* masks_ = nullptr;  // in shared memory: words_per_mask_ words per slot
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, std::uint32_t> slot_of_;
  Descriptor alive_;  // this process's end of the pipe; it closes when the process ends
  pid_t pid_ = -1;
};

}  // namespace poise::juggle
