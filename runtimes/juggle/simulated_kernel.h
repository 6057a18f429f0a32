// SPDX-License-Identifier: BSD-3-Clause
// A simulated kernel for tests, which control its threads, affinities and clock.
#pragma once

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtimes/juggle/affinity_store.h"
#include "runtimes/juggle/kernel.h"

namespace poise::juggle {

class SimulatedKernel : public Kernel {
 public:
  struct Thread {
    pid_t process = 0;
    std::uint64_t start_time = 0;
    Cpus affinity = {};
    CpuTime time = {};
    bool is_alive = true;
    double asleep = 0;      // share of the time for which the thread sleeps
    bool is_bound = false;  // setting another affinity fails with errno `refusal`
    pid_t parent = 0;       // the parent of the thread's process; 0: unknown
  };

  static constexpr double kPhaseS = 0.002;  // a thread falls asleep once in this many seconds

  /// `cpus` are the cpus that the balancer may use.
  explicit SimulatedKernel(Cpus cpus) : allowed(std::move(cpus)) {}

  /// Starts a thread, which the next scan() finds.
  void start(pid_t process, pid_t id, const Cpus& affinity, pid_t parent = 0) {
    threads_by_id[id] = {
        .process = process, .start_time = ++starts_, .affinity = affinity, .parent = parent};
    born = static_cast<std::uint64_t>(id);
    unseen_.push_back(id);
  }
  /// Simulates that all threads compute for `seconds`. Threads with the same affinity share the
  /// cpus of this affinity equally, without time slices.
  void compute(double seconds) {
    time_s += seconds;
    std::map<Cpus, double> threads_on;
    for (const auto& [id, thread] : threads_by_id) threads_on[thread.affinity] += 1;
    for (auto& [id, thread] : threads_by_id) {
      const double cpus = thread.affinity.size();
      const double share = (1 - stranger_share) * std::min(1.0, cpus / threads_on[thread.affinity]);
      const double awake_s = (1 - thread.asleep) * seconds;
      thread.time.run_s += share * awake_s;
      thread.time.wait_s += (1 - share) * awake_s;
      if (thread.asleep > 0) thread.time.turns += static_cast<std::uint64_t>(seconds / kPhaseS);
    }
  }
  void end(pid_t id) { threads_by_id.at(id).is_alive = false; }
  /// Returns the affinity of a thread.
  const Cpus& on(pid_t id) const { return threads_by_id.at(id).affinity; }
  /// Returns the key under which a thread was found.
  std::uint64_t key_of(pid_t id) const {
    return std::find_if(found_.begin(), found_.end(),
                        [id](const auto& thread) { return thread.second.id == id; })
        ->first;
  }

  double now_s() const override { return time_s; }
  bool get_affinity(pid_t thread, CpuSet& set) const override {
    const auto found = threads_by_id.find(thread);
    errno = ESRCH;
    if (thread != 0 && (found == threads_by_id.end() || !found->second.is_alive)) return false;
    set = CpuSet(thread == 0 ? allowed : found->second.affinity);
    return true;
  }
  bool set_affinity(pid_t thread, const CpuSet& set) override {
    const auto found = threads_by_id.find(thread);
    errno = ESRCH;
    if (found == threads_by_id.end() || !found->second.is_alive) return false;
    errno = refusal;
    if (found->second.is_bound) return false;
    errno = EINVAL;
    const Cpus cpus = common_cpus(set.cpus(), allowed);
    if (cpus.empty()) return false;
    found->second.affinity = cpus;
    return true;
  }
  Changes scan() override {
    ++scans;
    Changes changes;
    for (auto thread = found_.begin(); thread != found_.end();) {
      const pid_t id = thread->second.id;
      const bool is_seen = threads_by_id.at(id).is_alive && !out_of_sight.contains(id);
      if (!is_seen) changes.died.push_back(thread->first);
      thread = is_seen ? std::next(thread) : found_.erase(thread);
    }
    for (const pid_t id : std::exchange(unseen_, {})) {
      const Thread& thread = threads_by_id.at(id);
      const std::uint64_t key = next_key_++;
      FoundThread found{
          key,          thread.process, id, thread.start_time, rank_[thread.process]++,
          Descriptor(), Descriptor()};
      found.parent = thread.parent;
      found_.emplace(key, std::move(found));
      changes.born.push_back(key);
    }
    return changes;
  }
  const Threads& threads() const override { return found_; }
  std::size_t num_processes() const override { return processes; }
  bool has_changed() const override { return changed; }
  bool has_new_child(std::uint64_t key) const override {
    const FoundThread& parent = found_.at(key);
    return std::any_of(unseen_.begin(), unseen_.end(), [&](pid_t id) {
      const Thread& thread = threads_by_id.at(id);
      return thread.process != parent.process && thread.parent == parent.process;
    });
  }
  std::optional<std::uint64_t> last_born() const override { return born; }
  std::optional<CpuTime> read_time(const FoundThread& thread) const override {
    if (start_time_of(thread.process, thread.id) != thread.start_time) return {};
    return threads_by_id.at(thread.id).time;
  }
  std::optional<std::uint64_t> start_time_of(pid_t, pid_t thread) const override {
    const auto found = threads_by_id.find(thread);
    if (found == threads_by_id.end() || !found->second.is_alive) return {};
    return found->second.start_time;
  }
  std::string shortage() const override { return ""; }
  bool is_ours(pid_t process) const override { return !foreign.contains(process); }
  std::optional<double> quota_cpus(const std::vector<pid_t>& computing) const override {
    return computing.empty() ? quota_of_root : quota;
  }
  bool waits_actively(pid_t process) const override { return active.contains(process); }
  bool reports_waits(pid_t) const override { return !waits.empty(); }
  std::optional<WaitReport> wait_report(pid_t thread) const override {
    const auto found = waits.find(thread);
    return found == waits.end() ? std::nullopt : std::optional(found->second);
  }
  void forget_waits(pid_t thread) override { waits.erase(thread); }

  Cpus allowed;
  std::map<pid_t, Thread> threads_by_id;
  std::set<pid_t> foreign;            // processes of other users
  std::set<pid_t> out_of_sight;       // threads that scans do not find, although they are alive
  std::set<pid_t> active;             // processes whose threads spin while waiting
  std::map<pid_t, WaitReport> waits;  // the reports of those threads that report their waits
  std::optional<double> quota = {};   // quota of the processes that compute, in cpus
  std::optional<double> quota_of_root = {};  // quota of the program's first process, in cpus
  double stranger_share = 0;                 // share of each cpu that other programs use
  double time_s = 0;
  int refusal = EINVAL;
  std::size_t processes = 1;
  bool changed = false;
  std::optional<std::uint64_t> born = 1;
  int scans = 0;

 private:
  std::uint64_t starts_ = 0, next_key_ = 1;
  std::vector<pid_t> unseen_;
  std::map<pid_t, std::uint32_t> rank_;  // per process: the index that its next thread gets
  Threads found_;
};

/// An affinity store in memory, for tests.
class SimulatedStore : public AffinityStore {
 public:
  bool keep(std::uint64_t key, const OwnAffinity& own) override {
    if (own_.size() >= room) return false;
    own_[key] = own;
    return true;
  }
  void drop(std::uint64_t key) override { own_.erase(key); }
  std::optional<OwnAffinity> kept(std::uint64_t key) const override {
    const auto own = own_.find(key);
    return own == own_.end() ? std::nullopt : std::optional(own->second);
  }
  std::size_t size() const { return own_.size(); }

  std::size_t room = 100;

 private:
  std::map<std::uint64_t, OwnAffinity> own_;
};

}  // namespace poise::juggle
