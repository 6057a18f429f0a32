// SPDX-License-Identifier: BSD-3-Clause
// The affinity that the program gave each thread, the cpu to which the balancer has pinned it, and
// how the program's affinity is restored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/juggle/affinity_store.h"
#include "runtimes/juggle/kernel.h"
#include "runtimes/juggle/tally.h"

namespace poise::juggle {

/// Prints a message for the user, each text once.
using Note = std::function<void(const std::string&)>;

/// A thread's affinities.
struct ThreadAffinity {
  pid_t process = 0, id = 0;
  CpuSet own = {};                // the affinity that the program gave the thread
  std::optional<CpuId> cpu = {};  // the cpu to which the balancer has pinned the thread
  /// All cpus that the balancer has given the thread with widen(). Empty if the thread is pinned or
  /// has the affinity that the program gave it.
  Cpus wide = {};
  // The cpus from which the balancer has unpinned the thread since the last scan. Threads and
  // processes that this thread created while it was pinned to one of these cpus inherited its
  // affinity, so they may still be pinned to that cpu.
  Cpus before = {};
  double since_s = 0;    // time at which the thread was pinned to `cpu`
  bool is_lost = false;  // the thread has ended, and another one has, or may have, its id

  /// True if the thread is pinned to this cpu, or was pinned to it at some time since the last
  /// scan.
  bool was_on(CpuId on) const {
    return cpu == on || std::find(before.begin(), before.end(), on) != before.end();
  }
};

/// Returns the cpus on which to balance: those of the requested cpus that this process may use. If
/// there are none, or no cpus were requested, returns all cpus that it may use. Throws if the
/// kernel does not report the allowed cpus.
Cpus usable_cpus(const Kernel& kernel, const Cpus& requested);

/// Returns at most `most` of the cpus, starting with the one at index `first`. After the last cpu
/// of the list, continues with the first one.
Cpus some_cpus(const Cpus& cpus, std::size_t most, std::size_t first);

class Affinities {
 public:
  Affinities(Kernel& kernel, AffinityStore& store, Cpus requested, Note note, bool wants_stays);

  const Cpus& cpus() const { return cpus_; }
  /// Reads which cpus may be used now: the cgroup's cpuset and hotplug may have changed them. If
  /// the cpus on which to balance have changed, counts all threads as not pinned and returns true.
  bool refresh_cpus();
  /// Limits the number of cpus used to `most`, beginning with the cpu at index `first` in the list
  /// of usable cpus. The limit applies from the next refresh_cpus() on. Balancers of several
  /// programs begin at different cpus.
  void set_limit(std::size_t most, std::size_t first);
  /// The number of cpus that could be used if set_limit() had not been called.
  std::size_t num_unlimited() const { return num_unlimited_; }
  /// True if set_limit() excludes some cpus that could otherwise be used.
  bool is_limited() const { return cpus_.size() < num_unlimited_; }

  /// Adds a new thread. If it may have inherited its affinity from an older thread (of its own
  /// process or of an ancestor) that was passed to pin() or widen(), gives it the affinity that the
  /// program gave the older thread.
  void add(std::uint64_t key);
  /// True if a thread that was passed to pin() or widen() has started a process that the last scan
  /// did not find. That process has inherited the affinity of the thread.
  bool have_new_children() const;
  /// To be called at the end of a scan, when all threads that were created before the scan have
  /// been added.
  void end_scan();
  /// Removes a thread that is dead or cannot be followed any longer. If the thread is alive,
  /// restores the affinity that the program gave it.
  void remove(std::uint64_t key);

  enum class PinResult : std::uint8_t { pinned, not_now, refused_for_good, left_to_program };
  /// Pins a thread to a cpu.
  PinResult pin(std::uint64_t key, CpuId cpu);
  /// Lets a thread use all of `cpus`, although the program may have bound it to some of them.
  PinResult widen(std::uint64_t key, const Cpus& cpus);
  /// Restores the affinity that the program gave the thread. Returns false if the program has set
  /// another affinity since then; the thread then keeps that affinity.
  bool restore(std::uint64_t key);
  /// Restores the affinities of all threads. Returns the keys of the threads to leave alone from
  /// now on.
  std::vector<std::uint64_t> restore_all();

  /// Reads the affinities of threads that are not pinned, because the program may have changed
  /// them.
  void refresh_own();
  /// Checks that pinned threads are still pinned. If the affinity of a thread has changed, the
  /// program or its user did this on purpose, so the balancer leaves the thread alone. There is one
  /// exception: if the thread may now use every cpu, the kernel made the change, and the thread is
  /// pinned again. Returns the keys of the threads to leave alone from now on.
  std::vector<std::uint64_t> respect_own_choices();
  /// Like respect_own_choices(), checks that pinned threads are still pinned, but checks only the
  /// first thread of each process. Called when threads have ended, because one of them may have
  /// called exec(): such a thread takes over the id of the first thread of its process.
  std::vector<std::uint64_t> respect_choices_of_first_threads();

  /// All known threads, in order of their keys.
  const std::map<std::uint64_t, ThreadAffinity>& threads() const { return kept_; }
  /// Marks a thread as lost. Called when its times cannot be read: it has ended, or exec() has
  /// replaced its program.
  void lose(std::uint64_t key) { kept_.at(key).is_lost = true; }
  /// Returns false if the thread was marked as lost: its id now belongs, or may belong, to another
  /// thread. Also removes the mark, so the next call for this thread returns true.
  bool is_itself(std::uint64_t key);

  std::uint64_t migrations = 0, refusals = 0, own_choices = 0;
  std::vector<Stay> stays;

 private:
  struct Ancestry;
  Ancestry ancestry_of(const FoundThread& thread) const;
  CpuSet own_affinity_of(const FoundThread& thread, const CpuSet& seen) const;
  Cpus usable() const;
  void note_gone(const Cpus& allowed);
  void refresh_own(std::uint64_t key, ThreadAffinity& kept);
  bool is_rest_of(const CpuSet& own, const CpuSet& seen) const;
  PinResult assign(std::uint64_t key, const Cpus& cpus);
  const ThreadAffinity* former_self(const FoundThread& first, const CpuSet& seen) const;
  bool was_moved_by_program(std::uint64_t key, ThreadAffinity& kept);
  PinResult refused(int error);
  void give_back(pid_t thread, const CpuSet& own);
  void end_stay(const ThreadAffinity& kept);
  static void unpin(ThreadAffinity& kept);

  Kernel& kernel_;
  AffinityStore& store_;
  Cpus requested_;
  Note note_;
  bool wants_stays_;
  std::size_t limit_ = kMaxCpus, first_ = 0;
  CpuSet allowed_;  // as read last
  Cpus ever_;       // the cpus that were allowed at any time
  Cpus gone_ = {};  // those of ever_ that are not allowed now
  Cpus cpus_;
  std::size_t num_unlimited_ = cpus_.size();
  std::map<std::uint64_t, ThreadAffinity> kept_;
  std::optional<pid_t> first_process_;  // the program's first process
};

}  // namespace poise::juggle
