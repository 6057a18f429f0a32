// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_team.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "poise/base/check.h"
#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

constexpr std::string_view kPolicies[] = {"auto", "proactive", "reactive", "hybrid", "off"};

double average_progress(std::span<const JuggleMember> members) {
  double sum = 0;
  std::size_t count = 0;
  for (const JuggleMember& member : members) {
    if (!member.takes_part) continue;
    sum += member.progress_s;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

/// Returns how many seconds a thread may sleep without being left out of balancing. The limit grows
/// with the cpu time that the thread has used, and with the number of threads per place: on a
/// crowded place, a long wait for the cpu looks like sleep until the wait ends.
double longest_quiet_s(const JuggleMember& member, double threads_per_place,
                       const JuggleTuning& tuning) {
  const double least_s =
      tuning.enough_windows * tuning.min_window_s + tuning.two_slices_s * threads_per_place;
  return std::clamp(tuning.pause * member.last.run_s, std::min(least_s, tuning.max_quiet_s),
                    tuning.max_quiet_s);
}

double ready_share(double gained_s, double waited_s, double real_s) {
  return std::min(1.0, (gained_s + waited_s) / real_s);
}

}  // namespace

bool is_reacting(JugglePolicy policy) {
  return policy == JugglePolicy::reactive || policy == JugglePolicy::hybrid;
}

JugglePolicy juggle_policy_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kPolicies); ++i)
    if (name == kPolicies[i]) return static_cast<JugglePolicy>(i);
  fail("{}", unknown_name("policy", name, kPolicies));
}

std::string_view name_of(JugglePolicy policy) { return kPolicies[index_of(policy)]; }

JuggleTeam::JuggleTeam(const JuggleSettings& settings, std::vector<JugglePlace> places)
    : settings_(settings),
      places_(std::move(places)),
      stance_(settings.period_s, settings.tuning),
      watch_(settings.tuning, places_.size()),
      period_s_(settings.period_s) {
  POISE_CHECK(!places_.empty());
  POISE_CHECK(settings_.period_s > 0);
}

void JuggleTeam::set_places(std::vector<JugglePlace> places) {
  POISE_CHECK(!places.empty());
  places_ = std::move(places);
  watch_.set_places(places_.size());
  leave_all();
}

void JuggleTeam::leave_all() {
  was_dealt_ = false;
  for (JuggleMember& member : members_) {
    member.place.reset();
    member.is_wide = false;
  }
}

void JuggleTeam::set_speeds(std::span<const double> speeds) {
  POISE_CHECK(speeds.size() == places_.size());
  for (PlaceId p = 0; p < places_.size(); ++p) places_[p].speed = speeds[p];
}

void JuggleTeam::leave_alone(std::uint64_t key) {
  const auto at = std::lower_bound(left_alone_.begin(), left_alone_.end(), key);
  if (at == left_alone_.end() || *at != key) left_alone_.insert(at, key);
}

double JuggleTeam::longest_round_s() const { return std::min(period_s_, tuning().max_round_s); }

double JuggleTeam::next_s() const {
  const double short_s = std::min(tuning().short_period_s, settings_.period_s);
  if (settings_.policy == JugglePolicy::off) return longest_round_s();
  if (!first_s_ || (!is_balancing() && *last_s_ - watch_.since_s() < tuning().watch_s))
    return short_s;
  // If the program does not report when threads wait, a policy that reacts to waits looks for
  // waiting threads several times per period.
  const bool is_told = std::any_of(members_.begin(), members_.end(),
                                   [](const JuggleMember& m) { return m.last.waits.has_value(); });
  if (poise::is_reacting(settings_.policy) && !is_told)
    return std::min(std::max(period_s_ / tuning().points_per_phase, short_s), longest_round_s());
  return longest_round_s();
}

std::uint32_t JuggleTeam::num_taking_part() const {
  return std::count_if(members_.begin(), members_.end(),
                       [](const JuggleMember& m) { return m.takes_part; });
}

double JuggleTeam::average_progress_s() const { return average_progress(members_); }

std::vector<JuggleOrder> JuggleTeam::balance(std::span<const ThreadReading> readings,
                                             double now_s) {
  const bool places_changed = !was_dealt_;
  const double real_s = last_s_ ? now_s - *last_s_ : 0;
  const bool is_gap = !last_s_ || real_s <= 0 ||
                      real_s > tuning().pause * std::max(next_s(), tuning().short_period_s);
  remember_places();
  take(readings, now_s);
  if (is_gap) {
    list_team();  // threads may have ended since the last balancing point
    start_point(now_s);
  } else {
    choose_who_takes_part(real_s, now_s);
    watch_.observe(crew(), action_, real_s, now_s);
    watch_.close_window(crew(), action_, next_s(), now_s);
    decide(real_s, now_s);
  }
  return orders(places_changed);
}

void JuggleTeam::remember_places() {
  for (JuggleMember& member : members_) {
    member.place_before = member.place;
    member.was_wide = member.is_wide;
  }
}

bool JuggleTeam::is_reacting() const {
  return poise::is_reacting(settings_.policy) && is_balancing() && was_dealt_;
}

std::vector<JuggleOrder> JuggleTeam::react_to(std::span<const Wait> waits) {
  if (!is_reacting()) return {};
  remember_places();
  auto wait = waits.begin();
  for (JuggleMember& member : members_) {
    while (wait != waits.end() && wait->key < member.last.key) ++wait;
    if (wait != waits.end() && wait->key == member.last.key) member.last.waits = wait->report;
  }
  react();
  return orders(false);
}

void JuggleTeam::decide(double real_s, double now_s) {
  const JuggleAction before = std::exchange(action_, wanted_action(now_s));
  if (action_ != before) {
    limit_leads();
    was_dealt_ = false;
  }
  if (!is_balancing()) {
    leave_all();
    start_point(now_s);
    return;
  }
  if (!was_dealt_) {
    deal(action_ == JuggleAction::widen);
    return;
  }
  for (const std::size_t i : team_)
    members_[i].is_ready =
        ready_share(members_[i].gained_s, members_[i].waited_s, real_s) > tuning().ready_share;
  if (is_reacting()) react();
  const double since_point_s = now_s - point_s_;
  // The rest of the period is too short for another round.
  if (since_point_s >= period_s_ - (1 - tuning().round_share) * longest_round_s()) {
    const bool rotates =
        action_ == JuggleAction::rotate && settings_.policy != JugglePolicy::reactive;
    if (rotates) juggle(since_point_s);
    start_point(now_s);
  }
  settle();
}

/// Returns a JuggleOrder (a command to move) for each thread whose place has changed, or for all
/// threads with a place if the set of places has changed. If two threads exchange their cpus, the
/// less advanced one moves first. The reason is that it may have shared its cpu with another
/// program, which keeps this cpu busy until the other thread arrives. If the more advanced thread
/// moved first, its cpu would be idle for a moment, and the kernel would move the other program to
/// this cpu. Then the less advanced thread would again share its cpu with that program.
std::vector<JuggleOrder> JuggleTeam::orders(bool places_changed) {
  std::vector<JuggleMember*> moved;
  for (JuggleMember& member : members_) {
    const bool is_same = member.place_before == member.place && member.was_wide == member.is_wide;
    // A thread that may use all places of a domain, and stays in that domain, needs no JuggleOrder.
    const bool stays_wide = member.was_wide && member.is_wide && !places_changed &&
                            places_[*member.place].domain == places_[*member.place_before].domain;
    if (stays_wide || (is_same && !(places_changed && member.place))) continue;
    moved.push_back(&member);
    if (member.place && !member.is_wide) ++member.migrations;
  }
  std::stable_sort(moved.begin(), moved.end(), [](const JuggleMember* a, const JuggleMember* b) {
    return a->progress_s < b->progress_s;
  });
  std::vector<JuggleOrder> orders;
  for (const JuggleMember* member : moved)
    orders.push_back({member->last.key, member->place, member->is_wide});
  return orders;
}

/// Measures the rate of work: how many of the program's units of work a thread does per second of
/// cpu time. Divided by this rate, work becomes seconds of a cpu of average speed.
void JuggleTeam::measure_work_rate(std::span<const ThreadReading> readings) {
  double run_s = 0, work = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const ThreadReading& last = members_[i].last;
    if (!readings[i].work || !last.work) continue;
    run_s += std::max(0.0, readings[i].run_s - last.run_s);
    work += std::max(0.0, *readings[i].work - *last.work);
  }
  if (run_s <= 0 || work <= 0) return;
  const double weight = work_per_s_ == 0 ? 1 : tuning().fading;
  work_per_s_ += weight * (work / run_s - work_per_s_);
}

/// Returns the work of a thread since its last reading, in seconds. Uses the program's count of
/// work if there is one; otherwise cpu time weighted by the speed of the thread's place.
double JuggleTeam::worked_s(const JuggleMember& member, const ThreadReading& reading) const {
  if (reading.work && member.last.work && work_per_s_ > 0)
    return std::max(0.0, *reading.work - *member.last.work) / work_per_s_;
  const double gained_s = std::max(0.0, reading.run_s - member.last.run_s);
  return gained_s * (member.place ? places_[*member.place].speed : 1);
}

bool JuggleTeam::is_left_alone(std::uint64_t key) const {
  return std::binary_search(left_alone_.begin(), left_alone_.end(), key);
}

/// Adds new threads to members_ and removes ended ones, so that there is one entry for each thread
/// in `readings`.
void JuggleTeam::follow(std::span<const ThreadReading> readings, double now_s) {
  const auto is_of = [](const JuggleMember& member, const ThreadReading& reading) {
    return member.last.key == reading.key;
  };
  if (std::equal(members_.begin(), members_.end(), readings.begin(), readings.end(), is_of)) return;
  std::vector<JuggleMember> members;
  members.reserve(readings.size());
  auto old = members_.begin();
  for (const ThreadReading& reading : readings) {
    POISE_CHECK(members.empty() || members.back().last.key < reading.key);
    while (old != members_.end() && old->last.key < reading.key) ++old;
    if (old != members_.end() && is_of(*old, reading)) {
      members.push_back(*old);
      continue;
    }
    JuggleMember& member = members.emplace_back();
    member.last = reading;
    member.busy_s = member.seen_s = now_s;
    member.run_at_point_s = member.run_at_window_s = reading.run_s;
    member.wait_at_point_s = member.wait_at_window_s = reading.wait_s;
    member.turns_at_window = reading.turns;
    watch_.add_birth();
  }
  members_ = std::move(members);
}

/// Updates the list of threads from the readings. A known thread gets the cpu time, waiting time
/// and work since its last reading; a new thread gets initial values.
void JuggleTeam::take(std::span<const ThreadReading> readings, double now_s) {
  if (!first_s_) {
    first_s_ = point_s_ = now_s;
    watch_.begin(now_s);
  }
  follow(readings, now_s);
  measure_work_rate(readings);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    JuggleMember& member = members_[i];
    member.gained_s = std::max(0.0, readings[i].run_s - member.last.run_s);
    member.waited_s = std::max(0.0, readings[i].wait_s - member.last.wait_s);
    const double worked_s = this->worked_s(member, readings[i]);
    member.progress_s += worked_s;
    member.worked_s += worked_s;
    member.last = readings[i];
    if (!is_left_alone(member.last.key)) continue;
    member.takes_part = member.is_wide = false;
    member.place.reset();
  }
  last_s_ = now_s;
}

void JuggleTeam::choose_who_takes_part(double real_s, double now_s) {
  const double average_s = average_progress(members_);
  const double crowd = 1.0 * members_.size() / places_.size();
  for (JuggleMember& member : members_) {
    if (is_left_alone(member.last.key)) continue;
    const bool is_busy = member.gained_s > tuning().noise * real_s ||
                         member.gained_s + member.waited_s > tuning().ready_share * real_s;
    if (is_busy) {
      const bool was_ready =
          member.gained_s + member.waited_s > tuning().ready_share * (now_s - member.busy_s);
      if (member.quiet_rounds >= tuning().pause && !was_ready) member.busy_rounds = 0;
      ++member.busy_rounds;
      member.busy_s = now_s;
    }
    member.quiet_rounds = is_busy ? 0 : member.quiet_rounds + 1;
    if (!member.takes_part && member.busy_rounds >= tuning().busy_rounds) {
      member.takes_part = true;
      member.windows = 0;
      member.run_apart_s += member.last.run_s - member.run_at_leave_s;
      // A thread that joins during balancing starts with the average progress, because its own
      // progress comes from an earlier phase of the program.
      if (is_balancing()) member.progress_s = average_s;
    } else if (member.takes_part &&
               now_s - member.busy_s > longest_quiet_s(member, crowd, tuning())) {
      member.takes_part = member.is_wide = false;
      member.run_at_leave_s = member.last.run_s;
      member.busy_rounds = 0;
      member.place.reset();
    }
  }
  list_team();
}

void JuggleTeam::list_team() {
  team_.clear();
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].takes_part) team_.push_back(i);
}

JuggleAction JuggleTeam::wanted_action(double now_s) {
  const bool is_missing_threads = !is_balancing() && team_.size() < settings_.expected_threads;
  if (settings_.policy == JugglePolicy::off || team_.empty() || is_missing_threads)
    return JuggleAction::leave;
  if (settings_.policy != JugglePolicy::automatic)
    return team_.size() > 1 ? JuggleAction::rotate : JuggleAction::leave;
  const JuggleSigns signs = watch_.signs(crew(), action_, now_s);
  const JuggleAction action = stance_.next(signs, now_s);
  period_s_ = action == JuggleAction::rotate ? stance_.period_s() : settings_.period_s;
  return action;
}

/// Assigns every thread a new place. If `is_wide`, the thread may also use all other places in the
/// domain of its new place.
void JuggleTeam::deal(bool is_wide) {
  std::vector<DomainId> domain_of;
  for (const JugglePlace& place : places_) domain_of.push_back(place.domain);
  const auto places = deal_threads(team_.size(), domain_of);
  for (std::size_t t = 0; t < team_.size(); ++t) {
    members_[team_[t]].place = places[t];
    members_[team_[t]].is_wide = is_wide;
  }
  speeds_.clear();
  was_dealt_ = true;
}

/// Assigns places to threads without one, and moves threads so that the numbers of threads on two
/// places differ by at most one.
void JuggleTeam::settle() {
  threads_on_.assign(places_.size(), 0);
  for (const std::size_t i : team_)
    if (members_[i].place) ++threads_on_[*members_[i].place];
  const auto emptiest = [&] {
    return static_cast<PlaceId>(std::min_element(threads_on_.begin(), threads_on_.end()) -
                                threads_on_.begin());
  };
  for (const std::size_t i : team_) {
    if (members_[i].place) continue;
    members_[i].place = emptiest();
    members_[i].is_wide = action_ == JuggleAction::widen;
    ++threads_on_[*members_[i].place];
  }
  // A reactive policy lets the numbers of threads per place differ. It only makes the numbers of
  // ready threads equal, in react().
  if (is_reacting()) return;
  PlaceId to = emptiest();
  for (const std::size_t i : team_) {
    PlaceId& place = *members_[i].place;
    if (threads_on_[place] < threads_on_[to] + 2) continue;
    --threads_on_[std::exchange(place, to)];
    ++threads_on_[to];
    to = emptiest();
  }
  even_out_domains();
}

/// After threads of one domain have ended, this domain may have two threads fewer than another,
/// although the numbers of threads on any two places differ by at most one. Then the least advanced
/// thread of the domain with more threads moves to the other domain, unless that would make two
/// places differ by more than one thread.
void JuggleTeam::even_out_domains() {
  const auto domain_of = [&](PlaceId p) { return places_[p].domain; };
  DomainId num_domains = 0;
  for (const JugglePlace& place : places_) num_domains = std::max(num_domains, place.domain + 1);
  while (num_domains > 1) {
    std::vector<std::uint32_t> threads_in(num_domains, 0);
    for (PlaceId p = 0; p < places_.size(); ++p) threads_in[domain_of(p)] += threads_on_[p];
    const auto load = [&](PlaceId p) {
      return std::pair(threads_in[domain_of(p)], threads_on_[p]);
    };
    PlaceId to = 0;
    for (PlaceId p = 1; p < places_.size(); ++p)
      if (load(p) < load(to)) to = p;
    JuggleMember* first = nullptr;
    for (JuggleMember& member : members_) {
      if (!member.takes_part || !member.place || threads_on_[*member.place] <= threads_on_[to] ||
          threads_in[domain_of(*member.place)] < threads_in[domain_of(to)] + 2)
        continue;
      if (first == nullptr || member.progress_s < first->progress_s) first = &member;
    }
    if (first == nullptr) return;
    --threads_on_[std::exchange(*first->place, to)];
    ++threads_on_[to];
  }
}

void JuggleTeam::take_seats() {
  seats_.who.clear();
  seats_.progress_s.clear();
  seats_.place_of.clear();
  for (const std::size_t i : team_) {
    if (!members_[i].place) continue;
    seats_.who.push_back(i);
    seats_.progress_s.push_back(members_[i].progress_s);
    seats_.place_of.push_back(*members_[i].place);
  }
  seats_.domain_of.clear();
  seats_.speed.clear();
  for (const JugglePlace& place : places_) {
    seats_.domain_of.push_back(place.domain);
    seats_.speed.push_back(place.speed);
  }
}

void JuggleTeam::react() {
  take_seats();
  threads_on_.assign(places_.size(), 0);
  for (const PlaceId place : seats_.place_of) ++threads_on_[place];
  std::vector<bool> is_ready;
  for (const std::size_t i : seats_.who) {
    const JuggleMember& member = members_[i];
    const bool shares_place = threads_on_[*member.place] > 1;
    is_ready.push_back(member.last.waits ? !is_waiting(*member.last.waits, shares_place, tuning())
                                         : member.is_ready);
  }
  for (const Move& move : even_out(seats_.view(), is_ready))
    members_[seats_.who[move.thread]].place = move.to;
}

void JuggleTeam::juggle(double real_s) {
  limit_leads();
  take_seats();
  use_.assign(places_.size(), {});
  for (const std::size_t i : seats_.who) {
    const JuggleMember& member = members_[i];
    const double run_s = member.last.run_s - member.run_at_point_s;
    Use& use = use_[*member.place];
    ++use.num_threads;
    use.run_s += run_s;
    use.worked_s += member.worked_s - member.worked_at_point_s;
    // For each thread of a place, the time for which it was ready or running is known. The longest
    // of these times counts as the busy time of the place.
    use.ready_s = std::max(use.ready_s, run_s + member.last.wait_s - member.wait_at_point_s);
  }
  for (PlaceId p = 0; p < places_.size(); ++p) {
    const Use& use = use_[p];
    const double idle_s = std::max(0.0, real_s - use.ready_s);
    seats_.speed[p] = (use.run_s > 0 ? use.worked_s / use.run_s : places_[p].speed) *
                      measured_speed(use.run_s, use.num_threads, real_s, idle_s);
  }
  // Cpu times are imprecise if the period is only a few kernel ticks long. Speeds of places change
  // slowly, so such a period gets a small weight.
  const double weight = std::min(1.0, real_s / tuning().short_period_s);
  if (speeds_.size() != seats_.speed.size()) speeds_ = seats_.speed;
  for (PlaceId p = 0; p < speeds_.size(); ++p)
    seats_.speed[p] = speeds_[p] += weight * (seats_.speed[p] - speeds_[p]);
  remove_noise(seats_.speed, tuning().speed_tolerance);
  for (const Swap& swap : juggle_swaps(seats_.view(), tuning().noise * period_s_))
    std::swap(members_[seats_.who[swap.behind]].place, members_[seats_.who[swap.ahead]].place);
}

/// Begins the measurements of the next period.
void JuggleTeam::start_point(double now_s) {
  point_s_ = now_s;
  for (JuggleMember& member : members_) {
    member.run_at_point_s = member.last.run_s;
    member.worked_at_point_s = member.worked_s;
    member.wait_at_point_s = member.last.wait_s;
  }
}

void JuggleTeam::limit_leads() {
  const double average_s = average_progress(members_);
  const double limit_s = tuning().max_lead_periods * period_s_;
  for (JuggleMember& member : members_)
    member.progress_s = std::clamp(member.progress_s, average_s - limit_s, average_s + limit_s);
}

}  // namespace poise
