// SPDX-License-Identifier: BSD-3-Clause
// The team of threads that is kept in balance: which threads belong to it, how far each has
// progressed, and which place each gets next. Takes measured cpu times and returns places. Hofmeyr
// et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/online/juggle.h"
#include "poise/online/juggle_causes.h"
#include "poise/online/juggle_member.h"
#include "poise/online/juggle_stance.h"
#include "poise/online/juggle_watch.h"

namespace poise {

/// When threads move: at balancing points (proactive), when other threads block (reactive), in both
/// cases (hybrid), or never (off). With `automatic`, the balancer decides from its observations of
/// the threads.
enum class JugglePolicy : std::uint8_t { automatic, proactive, reactive, hybrid, off };

/// Returns the policy with this name, such as "auto". If there is none, throws Error with the known
/// names.
JugglePolicy juggle_policy_named(std::string_view name);
std::string_view name_of(JugglePolicy policy);

/// True for the policies that move threads when other threads block.
bool is_reacting(JugglePolicy policy);

struct JuggleSettings {
  JugglePolicy policy = JugglePolicy::automatic;
  double period_s = 0.1;
  std::uint32_t expected_threads = 0;  // no thread moves before this many exist; 0: unknown
  JuggleTuning tuning = {};
};

/// An order to move a thread to a place or, if no place is given, to restore the thread's own
/// affinity.
struct JuggleOrder {
  std::uint64_t key = 0;
  std::optional<PlaceId> place = {};
  bool is_wide = false;  // the thread may use all places of the domain of `place`
  friend bool operator==(const JuggleOrder&, const JuggleOrder&) = default;
};

class JuggleTeam {
 public:
  JuggleTeam(const JuggleSettings& settings, std::vector<JugglePlace> places);

  /// Replaces the list of places; each thread gets a new place at the next balancing point.
  void set_places(std::vector<JugglePlace> places);

  /// Updates the measured speeds of the places; the list of places stays the same.
  void set_speeds(std::span<const double> speeds);

  /// Runs a balancing point at now_s for all living threads. Returns the moves in the order in
  /// which to carry them out. O(n log n + m n) for n threads on m places.
  std::vector<JuggleOrder> balance(std::span<const ThreadReading> readings, double now_s);

  /// What a thread of the program reports about its waits.
  struct Wait {
    std::uint64_t key = 0;
    WaitReport report = {};
  };
  /// To be called between two balancing points: returns the moves of a policy that reacts to waits.
  /// `waits` lists the threads that report their waits, in order of key. O(n log n + m) for n
  /// threads on m places, and O(m) more for each move.
  std::vector<JuggleOrder> react_to(std::span<const Wait> waits);

  /// Excludes this thread from all further moves. To be called if a move failed or the program set
  /// the thread's affinity.
  void leave_alone(std::uint64_t key);

  /// Seconds until the threads are to be measured again: at the next balancing point, or earlier.
  double next_s() const;

  std::span<const JuggleMember> members() const { return members_; }
  std::uint32_t num_taking_part() const;
  double average_progress_s() const;  // mean of the threads in the team; 0 if there are none
  std::uint32_t num_places() const { return places_.size(); }
  /// Fraction of the recent time in which at least one thread on this place was ready or running.
  double wanted(PlaceId place) const { return watch_.wanted(place); }
  /// True if react_to() may return moves when threads begin to wait.
  bool is_reacting() const;
  bool is_balancing() const { return action_ != JuggleAction::leave; }
  JuggleAction action() const { return action_; }
  double period_s() const { return period_s_; }
  /// The observations so far, as input for the diagnosis (juggle_causes.h). The cgroup's quota of
  /// cpu time and the IDs of the cpus are not set.
  const JuggleFacts& facts() const { return watch_.facts(); }

 private:
  /// How threads used a place during a period of time.
  struct Use {
    double run_s = 0, worked_s = 0;  // sums over threads
    double ready_s = 0;              // the longest time for which a single thread was ready
    std::uint32_t num_threads = 0;
  };
  /// The threads of the team that have a place, as input for a JuggleView.
  struct Seats {
    std::vector<std::size_t> who;
    std::vector<double> progress_s, speed;
    std::vector<PlaceId> place_of;
    std::vector<DomainId> domain_of;
    JuggleView view() const { return {progress_s, place_of, speed, domain_of}; }
  };
  const JuggleTuning& tuning() const { return settings_.tuning; }
  double longest_round_s() const;
  void decide(double real_s, double now_s);
  std::vector<JuggleOrder> orders(bool places_changed);
  void measure_work_rate(std::span<const ThreadReading> readings);
  double worked_s(const JuggleMember& member, const ThreadReading& reading) const;
  bool is_left_alone(std::uint64_t key) const;
  void follow(std::span<const ThreadReading> readings, double now_s);
  void take(std::span<const ThreadReading> readings, double now_s);
  void choose_who_takes_part(double real_s, double now_s);
  void list_team();
  JuggleCrew crew() { return {members_, team_, places_}; }
  JuggleAction wanted_action(double now_s);
  void deal(bool is_wide);
  void leave_all();
  void settle();
  void even_out_domains();
  void take_seats();
  void remember_places();
  void react();
  void juggle(double real_s);
  void start_point(double now_s);
  void limit_leads();

  JuggleSettings settings_;
  std::vector<JugglePlace> places_;
  std::vector<JuggleMember> members_;  // in order of key
  std::vector<std::uint64_t> left_alone_;
  JuggleStance stance_;
  JuggleWatch watch_;
  double period_s_;
  JuggleAction action_ = JuggleAction::leave;
  bool was_dealt_ = false;
  std::optional<double> first_s_, last_s_;
  double point_s_ = 0;
  double work_per_s_ = 0;  // exponential average over all threads; 0: unknown
  /// Speed of each place as an exponential average, because single measurements are imprecise.
  std::vector<double> speeds_;
  // Scratch memory of a balancing point. It is kept for the next one, because newly allocated
  // memory causes cache misses, which dominate the cost of a balancing point.
  std::vector<std::size_t> team_;  // indices of the members in the team
  std::vector<Use> use_;           // per place
  std::vector<std::uint32_t> threads_on_;
  Seats seats_;
};

}  // namespace poise
