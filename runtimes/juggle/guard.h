// The guard: a process that gives every thread its own affinity back when the balancer is killed or
// stopped.
//
// The affinities lie in memory that both processes share. The guard sleeps on a pipe whose other
// end only the balancer holds, so that the end of the balancer wakes it, however it comes. Twice a
// second it looks whether the balancer is stopped (SIGSTOP): threads then stay on their cpus for
// good.
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

/// The most threads whose affinity can be kept, so that a fork bomb costs bounded memory.
constexpr std::size_t kMaxThreads = 16384;

/// Sets it unless the thread is gone: its number may be another thread's by now, which the start
/// time tells.
void give_back(const OwnAffinity& own);

class Guard : public AffinityStore {
 public:
  /// Starts the guard process. Throws when it cannot.
  Guard();
  /// Gives back what is still kept, then ends the guard process.
  ~Guard() override;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  pid_t pid() const { return pid_; }
  /// Whether the guard process has ended, that is, was killed.
  bool has_died() const;
  /// Starts another guard process in place of a dead one. Throws when it cannot.
  void restart();

  bool keep(std::uint64_t key, const OwnAffinity& own) override;
  void drop(std::uint64_t key) override;
  std::optional<OwnAffinity> kept(std::uint64_t key) const override;
  void give_all_back();

  /// What the guard process did while this one was stopped.
  enum class Release : std::uint8_t { none, under_way, done };
  /// `done` is returned once: the affinities of all threads have been restored. Move no thread
  /// during a release.
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
  Slot* slots_ = nullptr;          // in shared memory, kMaxThreads of them
  CpuSet::Word* masks_ = nullptr;  // in shared memory, words_per_mask_ for each slot
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, std::uint32_t> slot_of_;
  Descriptor alive_;  // the end of the pipe that closes with this process
  pid_t pid_ = -1;
};

}  // namespace poise::juggle
