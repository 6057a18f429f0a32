// SPDX-License-Identifier: BSD-3-Clause
// The thread balancer. At every balancing point it measures the threads, asks a JuggleTeam where
// each should run (poise/online/juggle_team.h) and sets affinities. It decides nothing itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/juggle/affinities.h"
#include "runtimes/juggle/affinity_store.h"
#include "runtimes/juggle/counter.h"
#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/kernel.h"
#include "runtimes/juggle/speeds.h"
#include "runtimes/juggle/tally.h"
#include "runtimes/juggle/watcher.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"
#include "poise/online/juggle_team.h"

namespace poise::juggle {

struct BalancerOptions {
  JuggleSettings settings;
  Cpus cpus = {};  // empty: all allowed cpus
  // If set, the balancer ignores one thread of each process: the thread with this index. Index 0 is
  // the first thread.
  std::optional<std::uint32_t> skip_thread = {};
  bool stays_in_domain = false;  // true: threads do not leave their memory domain
  ProgressSource progress = ProgressSource::automatic;
  double jitter = 0.1;  // each period varies at random by up to this fraction
  std::uint64_t seed = 0;
  std::size_t first_cpu = 0;  // index of the first cpu to use if a quota allows only some cpus
  bool wants_stays = false;   // record when each thread was on which cpu, for a trace
  std::function<void(const Tally&)> on_round = {};  // after every round
  // Path of the library that reports the waits of the program's threads; empty: there is none.
  std::string waits_library = {};
  // Called with each message for the user; a message is not repeated.
  std::function<void(std::string_view)> on_note = {};
};

class Balancer {
 public:
  /// Throws if the system refuses something that balancing needs.
  Balancer(const BalancerOptions& options, AffinityStore& store, Kernel& kernel);

  /// Balances once, at the end of a period.
  void round();
  /// Called when threads have begun to wait: moves threads in response. Only used with policies
  /// that react to waits.
  void react();
  /// The number of seconds until the next balancing point.
  double next_s();
  void count_early_wake_up() { ++tally_.early_wake_ups; }
  /// Pins all threads again. To be called when the guard process (guard.h) has restored the
  /// affinities of all threads.
  void start_anew();
  /// Restores the affinities of all threads. Returns what the balancer did.
  Tally finish();

 private:
  void note_once(const std::string& text);
  void note_silence(double real_s);
  std::vector<pid_t> computing_processes() const;
  bool is_time_for_quota(double now_s) const;
  void respect_quota();
  void choose_progress();
  std::vector<JugglePlace> places() const;
  bool learn_speeds();
  bool is_time_to_scan();
  void scan();
  void refresh_own();
  void respect_own_choices();
  void leave_alone(const std::vector<std::uint64_t>& keys);
  void read();
  void add_bounds(const CpuSet& own, ThreadReading& reading) const;
  void carry_out(const JuggleOrder& order);
  Cpus cpus_of_domain(PlaceId place) const;
  void ask_how_threads_wait();
  JuggleFacts facts() const;
  void remove(std::uint64_t key);
  void count_round(double cpu_s, double real_s, bool is_still);
  void count_attainable_time(double real_s);
  void copy_counts();
  void update_thread_tallies();

  const BalancerOptions& options_;
  Kernel& kernel_;
  Watcher watcher_;
  Affinities affinities_;
  Speeds speeds_;
  JuggleTeam team_;
  Random random_;
  double asked_own_s_ = 0, asked_quota_s_ = 0, round_s_ = 0;
  double cpu_before_s_ = process_cpu_now_s();  // cpu time of this process when it began to balance
  std::uint32_t team_size_ = 0;                // number of balanced threads in the last round
  std::uint32_t quota_team_size_ = 0;          // team_size_ when the quota was last read
  // If true, progress is counted in instructions instead of cpu time.
  bool counts_instructions_ = false;
  std::map<std::uint64_t, Descriptor> counters_;  // counters of instructions, by key of the thread
  std::vector<ThreadReading> readings_;           // of this round
  std::vector<JuggleTeam::Wait> waits_;
  double reacting_s_ = 0;  // seconds under a policy that reacts to waits
  std::vector<JugglePlace> places_;
  std::optional<double> quota_cpus_;
  std::set<pid_t> asked_;                      // processes whose way of waiting has been determined
  bool waits_actively_ = false;                // some process in asked_ has threads that spin
  std::map<std::uint64_t, ThreadTally> past_;  // balanced threads that still exist
  std::vector<ThreadTally> ended_;             // balanced threads that have ended
  std::set<std::string> notes_;
  Tally tally_;
};

}  // namespace poise::juggle
