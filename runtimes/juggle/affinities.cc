// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/affinities.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

Cpus usable_cpus(const Kernel& kernel, const Cpus& requested) {
  CpuSet set;
  if (!kernel.get_affinity(0, set))
    throw std::runtime_error(
        fmt::format("cannot query which cpus this process may use: {}", std::strerror(errno)));
  const Cpus allowed = set.cpus();
  const Cpus cpus = requested.empty() ? allowed : common_cpus(requested, allowed);
  return cpus.empty() ? allowed : cpus;
}

Cpus some_cpus(const Cpus& cpus, std::size_t most, std::size_t first) {
  if (cpus.size() <= most) return cpus;
  Cpus some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(cpus[(first + i) % cpus.size()]);
  std::sort(some.begin(), some.end());
  return some;
}

Affinities::Affinities(Kernel& kernel, AffinityStore& store, Cpus requested, Note note,
                       bool wants_stays)
    : kernel_(kernel),
      store_(store),
      requested_(std::move(requested)),
      note_(std::move(note)),
      wants_stays_(wants_stays),
      ever_(usable_cpus(kernel, {})),
      cpus_(usable_cpus(kernel, requested_)) {}

Cpus Affinities::usable() const {
  return some_cpus(usable_cpus(kernel_, requested_), limit_, first_);
}

void Affinities::set_limit(std::size_t most, std::size_t first) {
  // A changed limit clears `allowed_`, so the next refresh_cpus() computes the cpus again.
  if (std::exchange(limit_, most) != most) allowed_ = CpuSet();
  first_ = first;
}

/// Records which cpus were allowed earlier but are not among the cpus that are `allowed` now.
void Affinities::note_gone(const Cpus& allowed) {
  Cpus all, gone;
  std::set_union(ever_.begin(), ever_.end(), allowed.begin(), allowed.end(),
                 std::back_inserter(all));
  std::set_difference(all.begin(), all.end(), allowed.begin(), allowed.end(),
                      std::back_inserter(gone));
  ever_ = std::move(all);
  gone_ = std::move(gone);
}

/// True if a thread with the affinity `own` now has the affinity `seen` because some cpus of `own`
/// are offline or were taken away.
bool Affinities::is_rest_of(const CpuSet& own, const CpuSet& seen) const {
  if (gone_.empty()) return false;
  const Cpus cpus = own.cpus();
  Cpus rest;
  std::set_difference(cpus.begin(), cpus.end(), gone_.begin(), gone_.end(),
                      std::back_inserter(rest));
  return rest == seen.cpus();
}

bool Affinities::refresh_cpus() {
  CpuSet allowed;
  if (kernel_.get_affinity(0, allowed) && allowed == allowed_) return false;
  note_gone(allowed.cpus());
  allowed_ = std::move(allowed);
  Cpus cpus = usable();
  num_unlimited_ = usable_cpus(kernel_, requested_).size();
  if (cpus == cpus_) return false;
  cpus_ = std::move(cpus);
  for (auto& [key, kept] : kept_) {
    end_stay(kept);
    unpin(kept);
  }
  return true;
}

/// The processes from whose threads a thread may have inherited its affinity.
struct Affinities::Ancestry {
  std::vector<pid_t> processes;  // the thread's own process, its parent, its grandparent, ...
  /// False if ancestors may be missing from the list: when a process ends, the kernel gives its
  /// children another parent.
  bool is_complete = true;

  /// The number of generations between the thread and a process; nothing if the process is not an
  /// ancestor. A process that is not listed but may be an ancestor counts as the most distant
  /// ancestor.
  std::optional<std::size_t> generations(pid_t process) const {
    const auto found = std::find(processes.begin(), processes.end(), process);
    if (found == processes.end() && is_complete) return {};
    return found - processes.begin();
  }
};

Affinities::Ancestry Affinities::ancestry_of(const FoundThread& thread) const {
  const auto& threads = kernel_.threads();
  Ancestry ancestry;
  pid_t parent = thread.parent;
  for (pid_t process = thread.process;;) {
    // If a descendant has reused the id of a dead parent, the chain of parents is a cycle.
    ancestry.is_complete = !ancestry.generations(process);
    if (!ancestry.is_complete) return ancestry;
    ancestry.processes.push_back(process);
    const auto found = std::ranges::find_if(
        threads, [&](const auto& entry) { return entry.second.process == parent; });
    // The chain ends at a process whose parent is not in `threads`. If that parent has ended, it
    // may have had further ancestors. But a chain that ends at the program's first process is
    // complete.
    ancestry.is_complete = found != threads.end() || process == first_process_;
    if (found == threads.end()) return ancestry;
    process = parent;
    parent = found->second.parent;
  }
}

/// Returns the affinity that the program gave a new thread whose present affinity is `seen`. The
/// thread may have inherited `seen` from an older thread that the balancer has pinned to one cpu or
/// allowed to use several; then the result is the affinity that the program gave the older thread.
/// If there are several such older threads, the one in the nearest ancestor process counts.
CpuSet Affinities::own_affinity_of(const FoundThread& thread, const CpuSet& seen) const {
  const Cpus cpus = seen.cpus();
  std::optional<Ancestry> ancestry;
  const ThreadAffinity* parent = nullptr;
  std::size_t nearest = 0;
  for (const auto& [key, kept] : kept_) {
    const bool is_wide = !kept.wide.empty() && kept.wide == cpus;
    if (!is_wide && (cpus.size() != 1 || !kept.was_on(cpus[0]))) continue;
    if (!ancestry) ancestry = ancestry_of(thread);
    const auto generations = ancestry->generations(kept.process);
    // If `seen` has all allowed cpus, the thread may have this affinity without having inherited
    // it, as many threads do. So `seen` counts as inherited from an older thread only if that
    // thread's process is known to be an ancestor.
    const bool is_known = generations && *generations < ancestry->processes.size();
    if (!generations || (is_wide && seen == allowed_ && !is_known)) continue;
    const bool is_alive = kernel_.threads().contains(key);
    const std::size_t distance = 2 * *generations + !is_alive;
    if (parent != nullptr && distance >= nearest) continue;
    parent = &kept;
    nearest = distance;
  }
  return parent == nullptr ? seen : parent->own;
}

void Affinities::add(std::uint64_t key) {
  const FoundThread& thread = kernel_.threads().at(key);
  if (!first_process_) first_process_ = thread.process;
  CpuSet seen;
  if (!kernel_.get_affinity(thread.id, seen)) return;
  const CpuSet own = own_affinity_of(thread, seen);
  if (own != seen) give_back(thread.id, own);
  ThreadAffinity& kept = kept_[key];
  kept.process = thread.process;
  kept.id = thread.id;
  kept.own = own;
}

bool Affinities::have_new_children() const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& entry) {
    const auto& [key, kept] = entry;
    return (kept.cpu || !kept.wide.empty()) && kernel_.has_new_child(key);
  });
}

void Affinities::refresh_own() {
  for (auto& [key, kept] : kept_) refresh_own(key, kept);
}

void Affinities::refresh_own(std::uint64_t key, ThreadAffinity& kept) {
  const auto thread = kernel_.threads().find(key);
  CpuSet seen;
  if (kept.cpu || !kept.wide.empty() || thread == kernel_.threads().end()) return;
  if (!kernel_.get_affinity(thread->second.id, seen)) return;
  const ThreadAffinity* const former = former_self(thread->second, seen);
  if (former == nullptr && is_rest_of(kept.own, seen)) return;
  kept.own = former != nullptr ? former->own : seen;
  if (former == nullptr) return;
  give_back(thread->second.id, kept.own);
  kept.is_lost = true;
}

/// If a thread other than the process's first calls exec(), it gets the id of the first thread, its
/// old id disappears, and it stays on the cpu to which it was pinned. Finds such a thread and
/// returns its entry, which has the old id. Returns null if no thread has called exec().
const ThreadAffinity* Affinities::former_self(const FoundThread& first, const CpuSet& seen) const {
  const Cpus cpus = seen.cpus();
  if (first.id != first.process || cpus.size() != 1) return nullptr;
  for (const auto& [key, kept] : kept_) {
    if (kept.process != first.process || key == first.key) continue;
    if (!kept.was_on(cpus[0])) continue;
    const auto found = kernel_.threads().find(key);
    if (found == kernel_.threads().end() || !kernel_.read_time(found->second)) return &kept;
  }
  return nullptr;
}

/// True if the program has changed the affinity that the balancer gave a thread. The thread then
/// keeps the affinity that the program set.
bool Affinities::was_moved_by_program(std::uint64_t key, ThreadAffinity& kept) {
  const auto thread = kernel_.threads().find(key);
  CpuSet seen;
  const Cpus given = kept.cpu ? Cpus{*kept.cpu} : kept.wide;
  if (given.empty() || thread == kernel_.threads().end() ||
      !kernel_.get_affinity(thread->second.id, seen))
    return false;
  if (seen == CpuSet(given)) return false;
  if (common_cpus(seen.cpus(), cpus_) == cpus_ || former_self(thread->second, seen) != nullptr) {
    kernel_.set_affinity(thread->second.id, CpuSet(given));
    return false;
  }
  if (usable() != cpus_) return false;  // the usable cpus have changed: check again later
  note_("the program sets the affinities of some threads itself; these threads are not balanced");
  ++own_choices;
  end_stay(kept);
  unpin(kept);
  kept.own = seen;
  store_.drop(key);
  return true;
}

std::vector<std::uint64_t> Affinities::respect_own_choices() {
  std::vector<std::uint64_t> chosen;
  for (auto& [key, kept] : kept_)
    if (was_moved_by_program(key, kept)) chosen.push_back(key);
  return chosen;
}

std::vector<std::uint64_t> Affinities::respect_choices_of_first_threads() {
  std::vector<std::uint64_t> chosen;
  for (auto& [key, kept] : kept_)
    if (kept.id == kept.process && was_moved_by_program(key, kept)) chosen.push_back(key);
  return chosen;
}

/// Stores the affinity that the program gave the thread, then restricts the thread to `cpus`.
Affinities::PinResult Affinities::assign(std::uint64_t key, const Cpus& cpus) {
  const auto thread = kernel_.threads().find(key);
  const auto at = kept_.find(key);
  if (thread == kernel_.threads().end() || at == kept_.end()) return PinResult::not_now;
  ThreadAffinity& kept = at->second;
  const FoundThread& found = thread->second;
  if (was_moved_by_program(key, kept)) return PinResult::left_to_program;
  // The process may have changed its user since it was found; then its threads are left alone.
  if (!kernel_.is_ours(found.process)) return PinResult::refused_for_good;
  if (!store_.kept(key)) refresh_own(key, kept);  // the program may just have changed it
  if (!store_.kept(key) && !store_.keep(key, {found.process, found.id, found.start_time, kept.own}))
    return PinResult::not_now;
  if (!kernel_.set_affinity(found.id, CpuSet(cpus))) return refused(errno);
  end_stay(kept);
  unpin(kept);
  kept.since_s = kernel_.now_s();
  return PinResult::pinned;
}

Affinities::PinResult Affinities::pin(std::uint64_t key, CpuId cpu) {
  const PinResult result = assign(key, {cpu});
  if (result != PinResult::pinned) return result;
  kept_.at(key).cpu = cpu;
  ++migrations;
  return result;
}

Affinities::PinResult Affinities::widen(std::uint64_t key, const Cpus& cpus) {
  const PinResult result = assign(key, cpus);
  if (result != PinResult::pinned) return result;
  kept_.at(key).wide = cpus;
  return result;
}

/// Handles a failed attempt to change the affinity of a thread. Returns not_now if the thread has
/// ended or the set of usable cpus has just changed. Otherwise returns refused_for_good, and the
/// balancer leaves the thread alone.
Affinities::PinResult Affinities::refused(int error) {
  if (error == ESRCH) return PinResult::not_now;
  ++refusals;
  if (error != EINVAL)
    note_(fmt::format("the system does not allow to move threads ({}); they are not balanced",
                      std::strerror(error)));
  const bool is_for_good = error != EINVAL || usable() == cpus_;
  return is_for_good ? PinResult::refused_for_good : PinResult::not_now;
}

/// Gives a thread the affinity that the program gave it. If none of the affinity's cpus is allowed
/// any longer, the thread gets all cpus that are allowed; the kernel does the same when it takes
/// cpus away.
void Affinities::give_back(pid_t thread, const CpuSet& own) {
  if (!kernel_.set_affinity(thread, own) && errno == EINVAL)
    kernel_.set_affinity(thread, every_cpu());
}

bool Affinities::restore(std::uint64_t key) {
  const auto own = store_.kept(key);
  const auto kept = kept_.find(key);
  // After a thread's death its id may belong to another thread.
  if (own && kernel_.start_time_of(own->process, own->thread) == own->start_time) {
    CpuSet seen;
    const bool is_restored = kernel_.get_affinity(own->thread, seen) && seen == own->set;
    if (!is_restored && kept != kept_.end() && was_moved_by_program(key, kept->second))
      return false;
    give_back(own->thread, own->set);
  }
  store_.drop(key);
  if (kept == kept_.end()) return true;
  end_stay(kept->second);
  unpin(kept->second);
  return true;
}

std::vector<std::uint64_t> Affinities::restore_all() {
  std::vector<std::uint64_t> chosen;
  for (const auto& [key, kept] : kept_)
    if (!restore(key)) chosen.push_back(key);
  return chosen;
}

void Affinities::remove(std::uint64_t key) {
  restore(key);
  kept_.erase(key);
}

bool Affinities::is_itself(std::uint64_t key) {
  return !std::exchange(kept_.at(key).is_lost, false);
}

/// Records that the thread is neither pinned nor widened now.
void Affinities::unpin(ThreadAffinity& kept) {
  const auto cpu = std::exchange(kept.cpu, std::nullopt);
  if (cpu && !kept.was_on(*cpu)) kept.before.push_back(*cpu);
  kept.wide.clear();
}

void Affinities::end_scan() {
  for (auto& [key, kept] : kept_) kept.before.clear();
}

void Affinities::end_stay(const ThreadAffinity& kept) {
  if (!wants_stays_ || !kept.cpu) return;
  if (stays.size() < kTuning.max_stays)
    stays.push_back({kept.process, kept.id, *kept.cpu, kept.since_s, kernel_.now_s()});
  else
    note_(fmt::format(
        "the trace is full: it has {} intervals (one thread on one cpu) and lacks later ones",
        kTuning.max_stays));
}

}  // namespace poise::juggle
