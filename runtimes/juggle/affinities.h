// The affinities of threads: which the program wants, where the balancer keeps each, and how each
// gets its own back.
#pragma once

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

/// Something the user should know; told once each.
using Note = std::function<void(const std::string&)>;

/// What is known of a thread's affinity.
struct Kept {
  pid_t process = 0, id = 0;
  CpuSet own = {};                   // as the program wants it
  std::optional<CpuId> cpu = {};     // where the balancer keeps it
  std::optional<CpuId> before = {};  // where it did before: children may still have inherited that
  double since_s = 0;                // on cpu
  bool is_lost = false;              // another thread has taken its number, or may have
};

/// The cpus to balance on: those requested (none: all) that are allowed; all allowed ones when none
/// of the requested is. Throws when the kernel does not tell.
Cpus usable_cpus(const Kernel& kernel, const Cpus& requested);

class Affinities {
 public:
  Affinities(Kernel& kernel, AffinityStore& store, Cpus requested, Note note, bool wants_stays);

  const Cpus& cpus() const { return cpus_; }
  /// Cpus come and go, with the cgroup's cpuset and with hotplug: true when they have. No thread is
  /// kept anywhere then.
  bool refresh_cpus();

  /// A thread was found. One born to a thread that is kept on a cpu has inherited that cpu: it gets
  /// what its parent would have had.
  void meet(std::uint64_t key);
  /// A thread is dead.
  void forget(std::uint64_t key);

  enum class Placed : std::uint8_t { done, not_now, refused_for_good, left_to_program };
  /// Keeps a thread on a cpu from now on.
  Placed place(std::uint64_t key, CpuId cpu);
  /// Gives a thread its own affinity back.
  void release(std::uint64_t key);
  /// The same for all.
  void release_all();

  /// Asks for the affinities of threads that are not kept: the program may have set others.
  void refresh_own();
  /// Looks whether threads are where the balancer put them. One that is not was moved by the
  /// program, or its user, on purpose, unless it may now use every cpu: then the kernel gave it
  /// other cpus. The keys of threads that are the program's own from now on.
  std::vector<std::uint64_t> respect_own_choices();
  /// The same for the first thread of each process, whose number a dead thread may have taken.
  std::vector<std::uint64_t> respect_choices_of_first_threads();

  /// In order of their keys.
  const std::map<std::uint64_t, Kept>& kept() const { return kept_; }
  /// A thread did not tell its time: another takes its number, or will.
  void lose(std::uint64_t key) { kept_.at(key).is_lost = true; }
  /// False, once, when another thread has taken the number of this one, or may have.
  bool is_itself(std::uint64_t key);

  void end_stays();

  std::uint64_t migrations = 0, refusals = 0, own_choices = 0;
  std::vector<Stay> stays;

 private:
  CpuSet own_affinity_of(const FoundThread& thread, const CpuSet& seen) const;
  const Kept* former_self(const FoundThread& first, const CpuSet& seen) const;
  bool has_chosen(std::uint64_t key, Kept& kept);
  Placed refused(int error);
  void end_stay(const Kept& kept);

  Kernel& kernel_;
  AffinityStore& store_;
  Cpus requested_;
  Note note_;
  bool wants_stays_;
  CpuSet allowed_;  // as last seen
  Cpus cpus_;
  std::map<std::uint64_t, Kept> kept_;
};

}  // namespace poise::juggle
