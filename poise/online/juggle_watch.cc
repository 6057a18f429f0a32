// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/online/juggle.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

/// Per place, the number of threads whose own affinity allows only this place.
std::vector<std::uint32_t> bound_on(const JuggleCrew& crew) {
  std::vector<std::uint32_t> count(crew.places.size(), 0);
  for (const std::size_t i : crew.team)
    if (const auto place = crew.members[i].last.own_place) ++count[*place];
  return count;
}

/// Returns JuggleSigns::even_gain for the case that there are more threads than places.
double even_gain(std::uint32_t num_threads, std::span<const JugglePlace> places) {
  std::vector<DomainId> domain_of;
  for (const JugglePlace& place : places) domain_of.push_back(place.domain);
  return std::ceil(1.0 * num_threads / places.size()) / threads_per_place(num_threads, domain_of);
}

}  // namespace

void JuggleWatch::set_places(std::size_t num_places) {
  wanted_.assign(num_places, 0);
  done_.assign(num_places, 0);
  facts_.taken_s.assign(num_places, 0);
  facts_.bound_on.clear();
  taken_s_.assign(num_places, 0);
}

void JuggleWatch::observe(const JuggleCrew& crew, JuggleAction action, double real_s,
                          double now_s) {
  const bool has_grown = crew.team.size() >= 2 * std::max<std::size_t>(watched_size_, 1);
  watched_size_ = has_grown ? crew.team.size() : std::min(watched_size_, crew.team.size());
  if (has_grown && action == JuggleAction::leave) {
    since_s_ = now_s;
    lost_windows_ = 0;
    for (JuggleMember& member : crew.members) member.windows = 0;
  }
  watch_places(crew, real_s);
}

/// Measures for each place how long its threads wanted to run, and how much work they did. They run
/// for less time than they want if another program runs on the place, and do less work in that time
/// if the place is slow.
void JuggleWatch::watch_places(const JuggleCrew& crew, double real_s) {
  use_.assign(crew.places.size(), {});
  for (const std::size_t i : crew.team) {
    const JuggleMember& member = crew.members[i];
    const auto place = member.seat();
    if (!place) continue;
    // The kernel reports a wait only when it ends, so a wait that is longer than this round began
    // in an earlier round.
    Use& use = use_[*place];
    use.ready_s = std::max(use.ready_s, std::min(real_s, member.gained_s + member.waited_s));
    use.run_s += member.gained_s;
  }
  for (const JuggleMember& member : crew.members)
    if (const auto place = member.seat(); place && !member.takes_part)
      use_[*place].own_s += member.gained_s;
  for (PlaceId p = 0; p < crew.places.size(); ++p) {
    wanted_[p] += tuning_.fading * (use_[p].ready_s / real_s - wanted_[p]);
    // ready_s is the longest time for which a single thread of the place was ready or running.
    // run_s is the sum of the times for which the threads of the place ran; it is larger than
    // ready_s if they sleep in turn. At most ready_s counts as used, so that the used time can be
    // compared with the wanted time (wanted_), which is an average of ready_s.
    const double used_s = std::min(use_[p].run_s, use_[p].ready_s);
    done_[p] += tuning_.fading * (crew.places[p].speed * used_s / real_s - done_[p]);
    taken_s_[p] += std::max(0.0, use_[p].ready_s - used_s - use_[p].own_s);
  }
}

bool JuggleWatch::has_unequal_places() const {
  if (windows_ < tuning_.enough_windows) return false;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (PlaceId p = 0; p < wanted_.size(); ++p) {
    if (wanted_[p] < tuning_.notable) continue;
    least = std::min(least, done_[p] / wanted_[p]);
    most = std::max(most, done_[p] / wanted_[p]);
  }
  return least < (1 - tuning_.notable) * most;
}

/// Determines how long the thread slept, and whether it both slept and was ready in this window.
void JuggleWatch::close_for(JuggleMember& member, double window_s) const {
  if (window_s <= 0) return;  // the thread is new
  // A window is broken if the thread both ran and slept in it. This cannot be seen if the thread
  // ran, or slept, for less than the fraction `tolerance` of the window. If all fractions are
  // equally likely, the fraction 2 * tolerance of the broken windows is missed, so each broken
  // window that is seen counts as 1 / (1 - 2 * tolerance) windows.
  const double tolerance = tuning_.sleep_tolerance(window_s);
  const double ran_s = member.last.run_s - member.run_at_window_s;
  const double waited_s = member.last.wait_s - member.wait_at_window_s;
  const double ready = (ran_s + waited_s) / window_s;
  const bool is_broken = 1 - ready > tolerance && ready > tolerance;
  const double broken = is_broken ? 1 / (1 - 2 * tolerance) : 0;
  // The kernel reports a wait for a cpu only when it ends. So a thread that waits at the end of a
  // window seems to have slept, and the next window then contains more run and waiting time than it
  // is long. Therefore sleep is counted only when the next window closes.
  const double slept = std::max(0.0, member.seems_asleep - std::max(0.0, ready - 1));
  const double last_asleep = slept > tolerance ? slept : 0;
  if (member.windows == 0)
    member.asleep = 0;
  else
    member.asleep += std::max(tuning_.fading, 1.0 / member.windows) * (last_asleep - member.asleep);
  member.seems_asleep = std::max(0.0, 1 - ready);
  const double turns = member.last.turns - member.turns_at_window;
  const double weight = std::max(tuning_.fading, 1.0 / ++member.windows);
  member.waiting += weight * (waited_s / window_s - member.waiting);
  member.broken_per_s += weight * (broken / window_s - member.broken_per_s);
  member.turns_per_s += weight * (turns / window_s - member.turns_per_s);
  member.run_at_window_s = member.last.run_s;
  member.wait_at_window_s = member.last.wait_s;
  member.turns_at_window = member.last.turns;
}

/// Returns the time for which threads waited for cpus, without the waits that are inevitable if
/// there are more threads than places, divided by the length of the window. If each thread has a
/// place of its own, the longest wait is JuggleSigns::lost_cpus, because at the next barrier all
/// others wait for that thread. The run time of the program's threads outside the team, such as new
/// ones, is subtracted, because these threads may have caused the waiting.
JuggleWatch::LostCpus JuggleWatch::lost_in_window(const JuggleCrew& crew, double window_s) const {
  double all = 0, longest = 0, own_s = 0;
  for (const JuggleMember& member : crew.members)
    if (!member.takes_part) own_s += member.last.run_s - member.run_at_window_s;
  for (const std::size_t i : crew.team) {
    const JuggleMember& member = crew.members[i];
    const double waited_s = member.last.wait_s - member.wait_at_window_s;
    const double idle_s = window_s - (member.last.run_s - member.run_at_window_s);
    const double wait = std::clamp(std::min(waited_s, idle_s) / window_s, 0.0, 1.0);
    if (!crew.fits() || wait > tuning_.noise) all += wait;
    longest = std::max(longest, wait);
  }
  const double own = own_s / window_s;
  const double excess = crew.fits() ? 0 : crew.team.size() - crew.places.size();
  const double taken = std::max(0.0, all - excess - own);
  return {taken, crew.fits() ? std::max(0.0, longest - own) : taken};
}

void JuggleWatch::close_window(const JuggleCrew& crew, JuggleAction action, double round_s,
                               double now_s) {
  const double window_s = now_s - window_s_;
  if (window_s < std::max(tuning_.min_window_s, tuning_.round_share * round_s)) return;
  const LostCpus lost = lost_in_window(crew, window_s);
  const double weight = std::max(tuning_.fading, 1.0 / ++lost_windows_);
  lost_cpus_ += weight * (lost.most - lost_cpus_);
  for (JuggleMember& member : crew.members)
    close_for(member, std::min(window_s, now_s - member.seen_s));
  births_per_s_ += tuning_.fading * (births_ / window_s - births_per_s_);
  if (windows_ == 0) births_per_s_ = 0;  // excludes threads born at the program's start
  ++windows_;
  last_window_s_ = window_s;
  window_s_ = now_s;
  add_to_facts(crew, action, lost, window_s);
  births_ = 0;
  taken_s_.assign(taken_s_.size(), 0);
}

void JuggleWatch::add_to_facts(const JuggleCrew& crew, JuggleAction action, LostCpus lost,
                               double window_s) {
  if (crew.team.empty()) return;
  double asleep = 0, turns_per_s = 0;
  for (const std::size_t i : crew.team) {
    const JuggleMember& member = crew.members[i];
    if (member.windows < tuning_.enough_windows)
      return;  // a thread's first windows are not typical
    asleep = std::max(asleep, member.asleep);
    turns_per_s = std::max(turns_per_s, member.turns_per_s);
  }
  facts_.watched_s += window_s;
  facts_.threads_s += crew.team.size() * window_s;
  facts_.taken_cpu_s += lost.all * window_s;
  facts_.lost_cpu_s += lost.most * window_s;
  facts_.asleep_s += asleep * window_s;
  facts_.turns += turns_per_s * window_s;
  facts_.births += births_;
  for (PlaceId p = 0; p < taken_s_.size(); ++p) facts_.taken_s[p] += taken_s_[p];
  if (action != JuggleAction::leave) facts_.acted_s += window_s;
  // bound_on keeps the numbers of bound threads per cpu from the time when the most threads
  // computed. A change of the places clears bound_on. Then the bound threads are counted again,
  // even if fewer threads compute at that time.
  if (crew.team.size() < facts_.threads && !facts_.bound_on.empty()) return;
  facts_.threads = std::max<std::uint32_t>(facts_.threads, crew.team.size());
  facts_.bound_on = bound_on(crew);
}

/// Returns the phase length according to the windows so far. Returns nothing if too few threads
/// have been watched, or if a phase ended in every window and the kernel does not count context
/// switches.
std::optional<double> JuggleWatch::phase_seen_s(const JuggleCrew& crew, bool is_acting) const {
  std::size_t num_known = 0;
  double broken_per_s = 0;
  const JuggleMember* sleepiest = nullptr;
  for (const std::size_t i : crew.team) {
    const JuggleMember& member = crew.members[i];
    if (member.windows < tuning_.enough_windows) continue;
    ++num_known;
    broken_per_s = std::max(broken_per_s, member.broken_per_s);
    if (sleepiest == nullptr || member.asleep > sleepiest->asleep) sleepiest = &member;
  }
  if (2 * num_known <= crew.team.size()) return {};
  const double phase_s = phase_length_s(broken_per_s);
  if (is_acting || phase_s >= 2 * last_window_s_) return phase_s;
  // A phase ended in every window, so phases may be shorter than the estimate phase_s. The thread
  // that sleeps most sleeps at the barrier of every phase, and the kernel puts it on a cpu once
  // after each barrier. So the number of times that it is put on a cpu is the number of phases.
  if (sleepiest->turns_per_s <= 0) return {};
  return std::min(phase_s, 1 / sleepiest->turns_per_s);
}

/// True if the threads wait for cpus although none of them is bound or sleeps, and each could have
/// a cpu of its own. Then another program runs beside them. A few windows of observation are enough
/// to see this.
bool JuggleWatch::is_clearly_crowded(const JuggleCrew& crew) const {
  if (crew.team.size() < 2 || !crew.fits()) return false;
  if (lost_windows_ < tuning_.few_windows || lost_cpus_ <= tuning_.notable) return false;
  return std::all_of(crew.team.begin(), crew.team.end(), [&](std::size_t i) {
    const JuggleMember& member = crew.members[i];
    return member.windows >= tuning_.few_windows && member.asleep < tuning_.noise &&
           !member.last.is_bound;
  });
}

bool JuggleWatch::is_uneven(const JuggleCrew& crew) const {
  const std::size_t size = crew.team.size(), places = crew.places.size();
  if (size < 2) return false;
  if (size % places != 0 && size > places) return true;
  if (size >= places && has_unequal_places()) return true;
  // In all remaining cases, the threads could be spread evenly over the places. The kernel spreads
  // threads that may run on several places, so the threads are uneven only if each of them is bound
  // to a single place.
  for (const std::size_t i : crew.team)
    if (!crew.members[i].last.own_place) return false;
  const auto own = bound_on(crew);
  return *std::max_element(own.begin(), own.end()) > (size - 1) / places + 1;
}

JuggleSigns JuggleWatch::signs(const JuggleCrew& crew, JuggleAction action, double now_s) {
  const bool is_acting = action != JuggleAction::leave;
  std::optional<double> seen_s = phase_seen_s(crew, is_acting);
  const bool is_clear = is_clearly_crowded(crew);
  // If no thread sleeps, no end of a phase is seen, and the phases count as endless.
  if (is_clear && !seen_s) seen_s = phase_length_s(0);
  // Balancing shortens phases, and the length of short phases cannot be measured while threads are
  // balanced. So during balancing, a phase length that is already short is replaced only by an even
  // shorter one.
  if (!is_acting)
    phase_s_ = seen_s;
  else if (seen_s)
    phase_s_ =
        phase_s_ && *phase_s_ < 2 * tuning_.min_window_s ? std::min(*phase_s_, *seen_s) : *seen_s;
  JuggleSigns signs{.is_uneven = is_uneven(crew), .fits = crew.fits(), .phase_s = phase_s_};
  signs.has_stranger = has_unequal_places();
  signs.births_per_s = births_per_s_;
  // If there are more threads than places, lost_cpus stays 0: all threads wait for cpus in turn, so
  // their waits do not show which thread falls behind.
  if (crew.fits() && lost_windows_ >= tuning_.few_windows) signs.lost_cpus = lost_cpus_;
  for (const std::size_t i : crew.team) {
    const JuggleMember& member = crew.members[i];
    signs.is_bound |= member.last.is_bound;
    signs.is_confined |= member.last.is_beyond && !crew.fits();
    signs.asleep = std::max(signs.asleep, member.asleep);
    if (member.turns_per_s > 0)
      signs.longest_wait_s = std::max(signs.longest_wait_s, member.waiting / member.turns_per_s);
  }
  // Threads that are not bound are watched twice as long before they are moved, because the kernel
  // may balance them better. If is_clearly_crowded() is true, the kernel balances them badly, so
  // this extra time is skipped.
  const bool is_new =
      !is_acting && now_s - since_s_ < 2 * tuning_.enough_windows * tuning_.min_window_s;
  if (is_new && !signs.is_bound && !is_clear) signs.asleep = 1;
  if (!crew.fits()) signs.even_gain = even_gain(crew.team.size(), crew.places);
  return signs;
}

}  // namespace poise
