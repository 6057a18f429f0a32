// The thread balancer. At every balancing point it measures the threads, asks the team where each
// should go (poise/online/juggle_team.h) and sets affinities. It decides nothing itself.
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

#include "poise/base/random.h"
#include "poise/online/juggle_team.h"

namespace poise::juggle {

struct Options {
  JuggleSettings settings;
  Cpus cpus = {};                                 // none: all that are allowed
  std::optional<std::uint32_t> skip_thread = {};  // of each process, counted from 0
  bool stays_in_domain = false;                   // threads do not leave their memory domain
  ProgressSource progress = ProgressSource::automatic;
  double jitter = 0.1;  // share by which each period varies at random
  std::uint64_t seed = 0;
  bool wants_stays = false;                            // record stays on cpus for a trace
  std::function<void(const Tally&)> on_round = {};     // after every round
  std::function<void(std::string_view)> on_note = {};  // something the user should know, once each
};

class Balancer {
 public:
  /// Throws when something that balancing needs cannot be had.
  Balancer(const Options& options, AffinityStore& store, Kernel& kernel);

  /// Carries out one balancing point.
  void round();
  /// Seconds until the next one.
  double next_s();
  void count_early_wake_up() { ++tally_.early_wake_ups; }
  /// Call it when the guard has restored the affinities of all threads: all are pinned anew.
  void start_anew();
  /// Restores the affinities of all threads. Returns what was done.
  Tally finish();

 private:
  void note_once(const std::string& text);
  void warn_of_quota();
  void choose_progress();
  std::vector<JugglePlace> places() const;
  bool learn_speeds();
  void scan();
  void refresh_own();
  void respect_own_choices();
  void leave_alone(const std::vector<std::uint64_t>& keys);
  void read();
  void add_bounds(const CpuSet& own, ThreadReading& reading) const;
  void carry_out(const JuggleOrder& order);
  void remove(std::uint64_t key);
  void count_round(double cpu_s, double real_s, bool is_still);
  void count_attainable_time(double real_s);
  void copy_counts();
  void update_thread_tallies();

  const Options& options_;
  Kernel& kernel_;
  Watcher watcher_;
  Affinities affinities_;
  Speeds speeds_;
  JuggleTeam team_;
  Random random_;
  double asked_own_s_ = 0, asked_quota_s_ = 0, round_s_ = 0;
  std::uint32_t team_size_ = 0;                   // in the last round
  bool counts_instructions_ = false;              // of every thread, as its progress
  std::map<std::uint64_t, Descriptor> counters_;  // of these
  std::vector<ThreadReading> readings_;           // of this round
  std::map<std::uint64_t, ThreadTally> past_;
  std::set<std::string> notes_;
  Tally tally_;
};

}  // namespace poise::juggle
