#include "poise/online/juggle_team.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

constexpr std::string_view kPolicies[] = {"auto", "proactive", "reactive", "hybrid", "off"};

constexpr JuggleTuning kTuning;

double average_progress(std::span<const JuggleMember> members) {
  double sum = 0;
  std::size_t count = 0;
  for (const JuggleMember& member : members) {
    if (!member.takes_part) continue;
    sum += member.progress_s;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// How long a thread may sleep and still take part; this time grows with the cpu time that the
/// thread has used. On a crowded place, a long wait for the next turn looks like sleep until it
/// ends.
double longest_quiet_s(const JuggleMember& member, double threads_per_place) {
  const double least_s =
      std::min(kTuning.max_quiet_s, kTuning.min_quiet_s + kTuning.turn_s * threads_per_place);
  return std::clamp(kTuning.quiet_over_run * member.last.run_s, least_s, kTuning.max_quiet_s);
}

double ready_share(double gained_s, double waited_s, double real_s) {
  return std::min(1.0, (gained_s + waited_s) / real_s);
}

/// Fraction of a window that may be sleep, or a wait that the kernel has not yet reported. As a
/// consequence, twice this fraction of the broken windows is not recognised.
double sleep_tolerance(double window_s) {
  return kTuning.busy_share + kTuning.uncounted_wait_s / window_s;
}

bool is_reacting(JugglePolicy policy) {
  return policy == JugglePolicy::reactive || policy == JugglePolicy::hybrid;
}

}  // namespace

JugglePolicy juggle_policy_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kPolicies); ++i)
    if (name == kPolicies[i]) return static_cast<JugglePolicy>(i);
  fail("{}", unknown_name("policy", name, kPolicies));
}

std::string_view name_of(JugglePolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

JuggleTeam::JuggleTeam(const JuggleSettings& settings, std::vector<JugglePlace> places)
    : settings_(settings),
      places_(std::move(places)),
      stance_(std::min(settings.shortest_period_s, settings.period_s)),
      period_s_(settings.period_s),
      wanted_(places_.size(), 0),
      done_(places_.size(), 0) {
  POISE_CHECK(!places_.empty());
  POISE_CHECK(settings_.period_s > 0);
}

void JuggleTeam::set_places(std::vector<JugglePlace> places) {
  POISE_CHECK(!places.empty());
  places_ = std::move(places);
  wanted_.assign(places_.size(), 0);
  done_.assign(places_.size(), 0);
  was_dealt_ = false;
  for (JuggleMember& member : members_) member.place.reset();
}

void JuggleTeam::set_speeds(std::span<const double> speeds) {
  POISE_CHECK(speeds.size() == places_.size());
  for (PlaceId p = 0; p < places_.size(); ++p) places_[p].speed = speeds[p];
}

void JuggleTeam::leave_alone(std::uint64_t key) {
  const auto at = std::lower_bound(left_alone_.begin(), left_alone_.end(), key);
  if (at == left_alone_.end() || *at != key) left_alone_.insert(at, key);
}

double JuggleTeam::next_s() const {
  const double shortest_s = std::min(settings_.shortest_period_s, settings_.period_s);
  if (settings_.policy == JugglePolicy::off) return settings_.period_s;
  if (!first_s_ || (!is_balancing_ && *last_s_ - watched_since_s_ < kTuning.quick_start_s))
    return shortest_s;
  if (is_reacting(settings_.policy))
    return std::clamp(period_s_ / kTuning.reactive_rounds, shortest_s, period_s_);
  return period_s_;
}

std::uint32_t JuggleTeam::num_taking_part() const {
  return static_cast<std::uint32_t>(std::count_if(
      members_.begin(), members_.end(), [](const JuggleMember& m) { return m.takes_part; }));
}

double JuggleTeam::average_progress_s() const { return average_progress(members_); }

std::vector<JuggleOrder> JuggleTeam::balance(std::span<const ThreadReading> readings,
                                             double now_s) {
  const bool places_changed = !was_dealt_;
  const double real_s = last_s_ ? now_s - *last_s_ : 0;
  const bool is_gap =
      !last_s_ || real_s <= 0 || real_s > kTuning.gap_rounds * std::max(next_s(), 0.02);
  for (JuggleMember& member : members_) member.place_before = member.place;
  take(readings, now_s);
  if (is_gap) {
    start_point(now_s);
  } else {
    choose_who_takes_part(real_s, now_s);
    watch_places(real_s);
    close_window(now_s);
    decide(real_s, now_s);
  }
  return orders(places_changed);
}

void JuggleTeam::decide(double real_s, double now_s) {
  const bool was_balancing = std::exchange(is_balancing_, wants_to_balance(now_s));
  if (is_balancing_ != was_balancing) limit_leads();
  if (!is_balancing_) {
    was_dealt_ = false;
    for (JuggleMember& member : members_) member.place.reset();
    start_point(now_s);
    return;
  }
  if (!was_dealt_) {
    deal();
    return;
  }
  if (is_reacting(settings_.policy)) react(real_s);
  const double since_point_s = now_s - point_s_;
  if (since_point_s >= kTuning.point_share * period_s_) {
    if (settings_.policy != JugglePolicy::reactive) juggle(since_point_s);
    start_point(now_s);
  }
  settle();
}

/// Orders for threads whose place has changed, or for all threads with a place if the places
/// changed.
std::vector<JuggleOrder> JuggleTeam::orders(bool places_changed) {
  std::vector<JuggleOrder> orders;
  for (JuggleMember& member : members_) {
    if (member.place_before == member.place && !(places_changed && member.place)) continue;
    orders.push_back({member.last.key, member.place});
    if (member.place) ++member.migrations;
  }
  return orders;
}

/// Work per second of cpu time: converts work to seconds of a cpu of average speed.
void JuggleTeam::measure_work_rate(std::span<const ThreadReading> readings) {
  double run_s = 0, work = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const ThreadReading& last = members_[i].last;
    if (!readings[i].work || !last.work) continue;
    run_s += std::max(0.0, readings[i].run_s - last.run_s);
    work += std::max(0.0, *readings[i].work - *last.work);
  }
  if (run_s <= 0 || work <= 0) return;
  const double weight = work_per_s_ == 0 ? 1 : kTuning.fading;
  work_per_s_ += weight * (work / run_s - work_per_s_);
}

/// Seconds of work of a thread since its last reading. Uses the program's count of work if there is
/// one; otherwise cpu time weighted by the speed of the thread's place.
double JuggleTeam::worked_s(const JuggleMember& member, const ThreadReading& reading) const {
  if (reading.work && member.last.work && work_per_s_ > 0)
    return std::max(0.0, *reading.work - *member.last.work) / work_per_s_;
  const double gained_s = std::max(0.0, reading.run_s - member.last.run_s);
  return gained_s * (member.place ? places_[*member.place].speed : 1);
}

bool JuggleTeam::is_left_alone(std::uint64_t key) const {
  return std::binary_search(left_alone_.begin(), left_alone_.end(), key);
}

/// Adds new threads and removes ended ones, so that there is one member per reading.
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
    member.busy_s = now_s;
    member.run_before_s = member.run_at_point_s = member.run_at_window_s = reading.run_s;
    member.wait_at_point_s = member.wait_at_window_s = reading.wait_s;
    ++births_;
  }
  members_ = std::move(members);
}

/// Updates members from the readings: gains of known threads, initial values of new ones.
void JuggleTeam::take(std::span<const ThreadReading> readings, double now_s) {
  if (!first_s_) first_s_ = window_s_ = point_s_ = watched_since_s_ = now_s;
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
    member.takes_part = false;
    member.place.reset();
  }
  last_s_ = now_s;
}

void JuggleTeam::choose_who_takes_part(double real_s, double now_s) {
  const double average_s = average_progress(members_);
  const double crowd = static_cast<double>(members_.size()) / static_cast<double>(places_.size());
  for (JuggleMember& member : members_) {
    if (is_left_alone(member.last.key)) continue;
    const bool is_busy = member.gained_s > kTuning.busy_share * real_s ||
                         member.gained_s + member.waited_s > kTuning.ready_share * real_s;
    if (is_busy) {
      const bool was_ready =
          member.gained_s + member.waited_s > kTuning.ready_share * (now_s - member.busy_s);
      if (member.quiet_rounds >= kTuning.pause_rounds && !was_ready) member.busy_rounds = 0;
      ++member.busy_rounds;
      member.busy_s = now_s;
    }
    member.quiet_rounds = is_busy ? 0 : member.quiet_rounds + 1;
    if (!member.takes_part && member.busy_rounds >= kTuning.busy_rounds) {
      member.takes_part = true;
      member.windows = 0;
      member.part_since_s = now_s;
      member.run_before_s = member.last.run_s;
      if (is_balancing_) member.progress_s = average_s;  // its past belongs to an earlier phase
    } else if (member.takes_part && now_s - member.busy_s > longest_quiet_s(member, crowd)) {
      member.takes_part = false;
      member.busy_rounds = 0;
      member.place.reset();
    }
  }
  team_.clear();
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].takes_part) team_.push_back(i);
  watch_anew_when_team_has_grown(now_s);
}

/// Discards the observations when the team has grown: those of a serial part do not describe the
/// phases of the threads that it has started.
void JuggleTeam::watch_anew_when_team_has_grown(double now_s) {
  const bool has_grown = team_.size() >= 2 * std::max<std::size_t>(watched_size_, 1);
  watched_size_ = has_grown ? team_.size() : std::min(watched_size_, team_.size());
  if (!has_grown || is_balancing_) return;
  watched_since_s_ = now_s;
  for (JuggleMember& member : members_) member.windows = 0;
}

/// Per place, the fraction of the requested time that its threads got. It is below 1 if something
/// else runs there or if the place is slow.
void JuggleTeam::watch_places(double real_s) {
  use_.assign(places_.size(), {});
  for (const std::size_t i : team_) {
    const JuggleMember& member = members_[i];
    const auto place = member.place ? member.place : member.last.own_place;
    if (!place) continue;
    // The kernel reports a wait when it ends, so a wait longer than this round belongs to earlier
    // rounds as well.
    Use& use = use_[*place];
    use.ready_s = std::max(use.ready_s, std::min(real_s, member.gained_s + member.waited_s));
    use.run_s += member.gained_s;
  }
  for (PlaceId p = 0; p < places_.size(); ++p) {
    wanted_[p] += kTuning.fading * (use_[p].ready_s / real_s - wanted_[p]);
    // If threads sleep in turn, their total run time exceeds the longest time for which one thread
    // was ready.
    const double done_s = places_[p].speed * std::min(use_[p].run_s, use_[p].ready_s);
    done_[p] += kTuning.fading * (done_s / real_s - done_[p]);
  }
}

bool JuggleTeam::has_unequal_places() const {
  if (windows_ < kTuning.enough_windows) return false;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (PlaceId p = 0; p < places_.size(); ++p) {
    if (wanted_[p] < kTuning.wanted_place) continue;
    least = std::min(least, done_[p] / wanted_[p]);
    most = std::max(most, done_[p] / wanted_[p]);
  }
  return least < kTuning.unequal_places * most;
}

/// Called once per window. Records how long each thread slept, and whether it both slept and was
/// ready.
void JuggleTeam::close_window(double now_s) {
  const double window_s = now_s - window_s_;
  if (window_s < std::max(kTuning.min_window_s, kTuning.window_share * next_s())) return;
  const double tolerance = sleep_tolerance(window_s);
  for (JuggleMember& member : members_) {
    const double ready = ready_share(member.last.run_s - member.run_at_window_s,
                                     member.last.wait_s - member.wait_at_window_s, window_s);
    const double asleep = 1 - ready > tolerance ? 1 - ready : 0;
    const bool is_broken = asleep > 0 && ready > tolerance;
    const double broken = is_broken ? 1 / (1 - 2 * tolerance) : 0;
    const double weight = std::max(kTuning.fading, 1.0 / ++member.windows);
    member.asleep += weight * (asleep - member.asleep);
    member.broken_per_s += weight * (broken / window_s - member.broken_per_s);
    member.run_at_window_s = member.last.run_s;
    member.wait_at_window_s = member.last.wait_s;
  }
  births_per_s_ += kTuning.fading * (births_ / window_s - births_per_s_);
  if (windows_ == 0) births_per_s_ = 0;  // excludes threads born at the program's start
  births_ = 0;
  ++windows_;
  last_window_s_ = window_s;
  window_s_ = now_s;
}

/// Phase length according to the windows so far. Nothing if too few threads have been watched, or
/// if a phase ended in every window: then phases may be much shorter than a window.
std::optional<double> JuggleTeam::phase_length_seen_s() const {
  std::size_t num_known = 0;
  double broken_per_s = 0;
  for (const std::size_t i : team_) {
    if (members_[i].windows < kTuning.enough_windows) continue;
    ++num_known;
    broken_per_s = std::max(broken_per_s, members_[i].broken_per_s);
  }
  if (2 * num_known <= team_.size()) return {};
  const double phase_s = phase_length_s(broken_per_s);
  // While balancing, periods and windows get shorter until the phase length is known.
  if (!is_balancing_ && phase_s < 2 * last_window_s_) return {};
  return phase_s;
}

bool JuggleTeam::is_uneven() const {
  if (team_.size() < 2) return false;
  if (team_.size() % places_.size() != 0 && team_.size() > places_.size()) return true;
  if (team_.size() >= places_.size() && has_unequal_places()) return true;
  std::vector<std::uint32_t> own(places_.size(), 0);
  for (const std::size_t i : team_) {
    const auto place = members_[i].last.own_place;
    if (!place) return false;  // no more threads than places, and free to move
    ++own[*place];
  }
  return *std::max_element(own.begin(), own.end()) > (team_.size() - 1) / places_.size() + 1;
}

JuggleSigns JuggleTeam::signs() const {
  JuggleSigns signs;
  signs.is_uneven = is_uneven();
  signs.births_per_s = births_per_s_;
  signs.phase_s = phase_s_;
  double least_s = std::numeric_limits<double>::infinity(), most_s = -least_s;
  for (const std::size_t i : team_) {
    const JuggleMember& member = members_[i];
    signs.is_bound |= member.last.is_bound;
    signs.asleep = std::max(signs.asleep, member.asleep);
    least_s = std::min(least_s, member.progress_s);
    most_s = std::max(most_s, member.progress_s);
  }
  const bool is_new = !is_balancing_ && *last_s_ - watched_since_s_ < kTuning.watch_free_s;
  if (is_new && !signs.is_bound) signs.asleep = 1;
  if (team_.empty()) return signs;
  const double share = static_cast<double>(team_.size()) / static_cast<double>(places_.size());
  const double lag_s = settings_.period_s / std::max(1.0, std::ceil(share) * std::floor(share));
  signs.spread_lags = (most_s - least_s) / lag_s;
  return signs;
}

bool JuggleTeam::wants_to_balance(double now_s) {
  if (settings_.policy == JugglePolicy::off || team_.empty()) return false;
  if (!is_balancing_ && team_.size() < settings_.expected_threads) return false;
  if (settings_.policy != JugglePolicy::automatic) return team_.size() > 1;
  const std::optional<double> seen_s = phase_length_seen_s();
  if (seen_s || !is_balancing_) phase_s_ = seen_s;
  const JuggleSigns signs = this->signs();
  const bool wants = stance_.next(signs, now_s);
  period_s_ = wants ? period_for(*phase_s_, settings_.shortest_period_s, settings_.period_s)
                    : settings_.period_s;
  return wants;
}

/// Assigns every thread a new place.
void JuggleTeam::deal() {
  std::vector<DomainId> domain_of;
  for (const JugglePlace& place : places_) domain_of.push_back(place.domain);
  const auto places = deal_threads(static_cast<std::uint32_t>(team_.size()), domain_of);
  for (std::size_t t = 0; t < team_.size(); ++t) members_[team_[t]].place = places[t];
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
    ++threads_on_[*members_[i].place];
  }
  if (is_reacting(settings_.policy)) return;  // with a reactive policy, only ready threads count
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

/// When threads of one domain end, it may have two threads fewer than another domain, although no
/// place has two fewer than another. Then the least advanced thread of the larger domain moves, if
/// places still differ by at most one thread.
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

void JuggleTeam::react(double real_s) {
  take_seats();
  std::vector<bool> is_ready;
  for (const std::size_t i : seats_.who)
    is_ready.push_back(ready_share(members_[i].gained_s, members_[i].waited_s, real_s) >
                       kTuning.ready_share);
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
    // The place was busy for as long as its longest ready thread ran or waited there.
    use.ready_s = std::max(use.ready_s, run_s + member.last.wait_s - member.wait_at_point_s);
  }
  for (PlaceId p = 0; p < places_.size(); ++p) {
    const Use& use = use_[p];
    const double idle_s = std::max(0.0, real_s - use.ready_s);
    seats_.speed[p] = (use.run_s > 0 ? use.worked_s / use.run_s : places_[p].speed) *
                      measured_speed(use.run_s, use.num_threads, real_s, idle_s);
  }
  remove_noise(seats_.speed, kTuning.speed_tolerance);
  for (const Swap& swap : juggle_swaps(seats_.view(), kTuning.margin_share * period_s_))
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
  const double limit_s = kTuning.max_lead_periods * period_s_;
  for (JuggleMember& member : members_)
    member.progress_s = std::clamp(member.progress_s, average_s - limit_s, average_s + limit_s);
}

}  // namespace poise
