// The threads that a balancer keeps in balance: who takes part, how far each is, and where it goes
// next. Measurements of cpu time go in, places come out.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/online/juggle.h"
#include "poise/online/juggle_stance.h"

namespace poise {

/// When threads move: every period, as soon as others block, both, never, or as it seems best.
enum class JugglePolicy : std::uint8_t { automatic, proactive, reactive, hybrid, off };

/// "auto", "proactive", … Throws Error with the names there are.
JugglePolicy juggle_policy_named(std::string_view name);
std::string_view name_of(JugglePolicy policy);

struct JuggleSettings {
  JugglePolicy policy = JugglePolicy::automatic;
  double period_s = 0.1;
  double shortest_period_s = 0.02;     // about five ticks of the kernel, whose times are no finer
  std::uint32_t expected_threads = 0;  // known in advance: nothing moves before; 0: unknown
};

/// A place as the balancer sees it.
struct JugglePlace {
  DomainId domain = 0;  // dense; threads stay in theirs when there are several
  double speed = 1;     // against the fastest
};

/// A thread at a balancing point. `key` names it for good.
struct ThreadReading {
  std::uint64_t key = 0;
  double run_s = 0, wait_s = 0;           // since its start: on a cpu, and ready but waiting
  bool is_bound = false;                  // its own affinity leaves places out
  std::optional<PlaceId> own_place = {};  // the only one that its own affinity allows
  std::optional<double> work = {};        // since its start, in any unit: instructions, say
};

/// Where a thread goes: a place, or, with none, back to its own affinity.
struct JuggleOrder {
  std::uint64_t key = 0;
  std::optional<PlaceId> place = {};
  friend bool operator==(const JuggleOrder&, const JuggleOrder&) = default;
};

/// What is known of a thread.
struct JuggleMember {
  ThreadReading last;
  std::optional<PlaceId> place = {}, place_before = {};  // now, and before this balancing point
  bool takes_part = false;
  double progress_s = 0;                           // run_s weighted by the speed of its places
  double worked_s = 0, worked_at_point_s = 0;      // the same, and never corrected
  double gained_s = 0, waited_s = 0;               // in the last round
  double run_at_point_s = 0, wait_at_point_s = 0;  // at the last proactive balancing point
  double run_at_window_s = 0, wait_at_window_s = 0;
  double asleep = 0, broken = 0;  // shares of the time, fading averages
  double part_since_s = 0, run_before_s = 0;
  double busy_s = 0;  // when it last was, or was first seen
  std::uint32_t busy_rounds = 0, quiet_rounds = 0;
  std::uint64_t migrations = 0;
};

class JuggleTeam {
 public:
  JuggleTeam(const JuggleSettings& settings, std::vector<JugglePlace> places);

  /// Other places: every thread is dealt anew at the next balancing point.
  void set_places(std::vector<JugglePlace> places);

  /// The same places, whose speeds are better known now.
  void set_speeds(std::span<const double> speeds);

  /// A balancing point at now_s with all threads that live: what has to change, in order.
  /// O(n log n + m n) for n threads on m places.
  std::vector<JuggleOrder> balance(std::span<const ThreadReading> readings, double now_s);

  /// An order could not be carried out, or the thread is the program's own again: it is left alone.
  void leave_alone(std::uint64_t key);

  /// Until the next balancing point.
  double next_s() const;

  std::span<const JuggleMember> members() const { return members_; }
  std::uint32_t num_taking_part() const;
  double average_progress_s() const;  // of those; 0 when there are none
  std::uint32_t num_places() const { return static_cast<std::uint32_t>(places_.size()); }
  /// The share of the time in which a thread that is known to be at this place had something to do,
  /// of late.
  double wanted(PlaceId place) const { return wanted_[place]; }
  bool is_balancing() const { return is_balancing_; }
  double period_s() const { return period_s_; }

 private:
  /// What threads made of a place, in any stretch of time.
  struct Use {
    double run_s = 0, worked_s = 0;  // in all
    double ready_s = 0;              // of the one that was ready longest
    std::uint32_t num_threads = 0;
  };
  /// Those that take part and have a place, as vectors that a JuggleView shows.
  struct Seats {
    std::vector<std::size_t> who;
    std::vector<double> progress_s, speed;
    std::vector<PlaceId> place_of;
    std::vector<DomainId> domain_of;
    JuggleView view() const { return {progress_s, place_of, speed, domain_of}; }
  };
  void decide(double real_s, double now_s);
  std::vector<JuggleOrder> orders(bool places_changed);
  void measure_work_rate(std::span<const ThreadReading> readings);
  double worked_s(const JuggleMember& member, const ThreadReading& reading) const;
  bool is_left_alone(std::uint64_t key) const;
  void follow(std::span<const ThreadReading> readings, double now_s);
  void take(std::span<const ThreadReading> readings, double now_s);
  void choose_who_takes_part(double real_s, double now_s);
  void watch_places(double real_s);
  bool has_unequal_places() const;
  void close_window(double now_s);
  JuggleSigns signs() const;
  bool is_uneven() const;
  bool wants_to_balance(double now_s);
  void deal();
  void settle();
  void even_out_domains();
  void take_seats();
  void react(double real_s);
  void juggle(double real_s);
  void start_point(double now_s);
  void limit_leads();

  JuggleSettings settings_;
  std::vector<JugglePlace> places_;
  std::vector<JuggleMember> members_;  // in order of their keys
  std::vector<std::uint64_t> left_alone_;
  JuggleStance stance_;
  double period_s_;
  bool is_balancing_ = false, was_dealt_ = false;
  std::optional<double> first_s_, last_s_;
  double point_s_ = 0, window_s_ = 0;
  std::uint32_t windows_ = 0, births_ = 0;
  double births_per_s_ = 0;
  double work_per_s_ = 0;  // fading average over all threads; 0: not known
  // Per place, fading averages of shares of the time: threads had something to do, and what it got
  // done, weighted by its speed.
  std::vector<double> wanted_, done_;
  // Of one balancing point; kept so that none has to be made anew, for most of what a point costs
  // is memory and code that the caches have forgotten.
  std::vector<std::size_t> team_;  // those members who take part
  std::vector<Use> use_;           // per place
  std::vector<std::uint32_t> threads_on_;
  Seats seats_;
};

}  // namespace poise
