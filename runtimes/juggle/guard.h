// The guard: a process that gives every thread its own affinity back when the balancer is killed.
//
// What is to be given back lies in memory that both processes share. The guard sleeps on a pipe
// whose other end only the balancer holds: the end of the balancer, however it comes, wakes it.
#pragma once

#include <cstdint>
#include <map>
#include <sched.h>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// The most threads whose affinity can be kept, so that a fork bomb costs bounded memory.
constexpr std::size_t kMaxThreads = 16384;

/// The affinity of a thread before it was first touched.
struct OwnAffinity {
  pid_t process = 0, thread = 0;
  std::uint64_t start_time = 0;
  cpu_set_t set = {};
};

/// Gives it back unless the thread is gone; the number of a dead thread may be another's by now.
void give_back(const OwnAffinity& own);

class Guard {
 public:
  /// Starts the guard process. Throws when it cannot.
  Guard();
  /// Gives back what is still kept, then ends the guard.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  pid_t pid() const { return pid_; }

  /// Keeps an affinity, before the thread is first touched. False when there is no room.
  bool keep(std::uint64_t key, const OwnAffinity& own);
  /// The thread has got its affinity back, or is dead.
  void drop(std::uint64_t key);
  bool keeps(std::uint64_t key) const { return slot_of_.contains(key); }
  /// Changes what is kept: the program has set another affinity itself.
  const OwnAffinity* kept(std::uint64_t key) const;
  void give_all_back();

 private:
  struct Slot;
  Slot* slots_ = nullptr;
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, std::uint32_t> slot_of_;
  Descriptor alive_;  // the end of the pipe that closes with this process
  pid_t pid_ = -1;
};

}  // namespace poise::juggle
