// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/juggle_ideal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/online/juggle.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// If the remaining work of a thread is below kRoundingOfPhase times the length of a phase, or
/// below kRoundingOfTime times the time since the start, it is a rounding error: the thread is at
/// the barrier.
constexpr double kRoundingOfPhase = 1e-9, kRoundingOfTime = 1e-14;

/// The threads and places of one run. A running thread has rest_s seconds of work left in this
/// phase. A thread at the barrier has 0 s left and uses no time of its place.
class Team {
 public:
  explicit Team(const JuggleRun& run);

  double now_s() const { return now_s_; }
  std::uint64_t num_running() const { return num_running_; }
  void start_phase();

  /// The time at which the next thread arrives at the barrier if no thread moves.
  double next_arrival_s() const;
  /// Advances all places to time end_s, or until all threads have arrived at the barrier.
  void run_until(double end_s);

  void sort_into_slots();
  /// Adds point_cost_s, the cost of a balancing point, to the overheads of every place. For each
  /// thread that is no longer at its place in `before`, adds migration_cost_s to the overheads of
  /// its new place.
  void charge(double point_cost_s, double migration_cost_s, std::span<const PlaceId> before);
  const std::vector<PlaceId>& places_of_threads() const { return place_of_; }
  std::uint64_t swap();  // returns the number of migrations
  void forget_gains();   // restarts the measurement of the places' speeds

  std::vector<double> progress_s() const;
  /// Upper bound on the time that a place needs for one phase.
  double horizon_s() const {
    double owed_s = 0;
    for (const Shared& place : places_) owed_s = std::max(owed_s, place.owed_s);
    return owed_s + 2.0 * program_.threads * *std::max_element(work_s_.begin(), work_s_.end());
  }

 private:
  struct Shared {                   // a place
    std::vector<ThreadId> threads;  // with time slices, the first thread is the one that runs
    double idle_s = 0;              // idle time since the last balancing point
    double owed_s = 0;              // overheads for which the place must still stop, in seconds
    double slice_left_s = 0;
  };

  double pay(Shared& place, double left_s);
  void run_place(Shared& place, double end_s);
  void run_place_in_slices(Shared& place, double end_s);
  void end_thread(ThreadId thread, double at_s);
  void sort_domain(DomainId d);

  const SpmdProgram program_;
  const std::vector<double> work_s_;  // for each thread, its work in one phase
  const double slice_s_;
  std::vector<DomainId> domain_of_;
  std::vector<std::vector<PlaceId>> places_of_domain_;  // places with most initial threads first
  std::vector<Shared> places_;
  std::vector<double> rest_s_, gained_s_;  // gained_s_: progress since the last balancing point
  std::vector<PlaceId> place_of_;
  std::vector<ThreadId> order_;  // scratch
  double now_s_ = 0, last_arrival_s_ = 0, balanced_s_ = 0, rounding_s_ = 0;
  std::uint64_t phase_ = 0, num_running_ = 0;
};

std::vector<double> work_of(const JuggleRun& run) {
  std::vector<double> work_s(run.program.threads, run.program.phase_s);
  for (std::size_t t = 0; t < run.work_of_thread.size(); ++t) work_s[t] *= run.work_of_thread[t];
  return work_s;
}

Team::Team(const JuggleRun& run)
    : program_(run.program),
      work_s_(work_of(run)),
      slice_s_(run.slice_s),
      domain_of_(run.domain_of_place) {
  if (domain_of_.empty()) domain_of_.resize(program_.places, 0);
  const ThreadId num_threads = program_.threads;
  place_of_ = deal_threads(num_threads, domain_of_);
  places_.resize(program_.places);
  for (ThreadId t = 0; t < num_threads; ++t) places_[place_of_[t]].threads.push_back(t);
  places_of_domain_.resize(*std::max_element(domain_of_.begin(), domain_of_.end()) + 1);
  for (PlaceId p = 0; p < places_.size(); ++p) places_of_domain_[domain_of_[p]].push_back(p);
  for (auto& places : places_of_domain_)
    std::stable_sort(places.begin(), places.end(), [&](PlaceId a, PlaceId b) {
      return places_[a].threads.size() > places_[b].threads.size();
    });
  rest_s_.resize(num_threads, 0);
  gained_s_.resize(num_threads, 0);
}

void Team::start_phase() {
  ++phase_;
  num_running_ = program_.threads;
  rounding_s_ = std::max(program_.phase_s * kRoundingOfPhase, now_s_ * kRoundingOfTime);
  rest_s_ = work_s_;
}

double Team::next_arrival_s() const {
  double soonest_s = kNever;
  for (const Shared& place : places_) {
    double least_s = kNever;
    std::size_t running = 0;
    for (const ThreadId t : place.threads) {
      if (rest_s_[t] <= 0) continue;
      least_s = std::min(least_s, rest_s_[t]);
      ++running;
    }
    if (running > 0) soonest_s = std::min(soonest_s, place.owed_s + least_s * running);
  }
  return now_s_ + soonest_s;
}

/// Spends up to left_s seconds on the overheads that the place still owes. Returns the seconds
/// left.
double Team::pay(Shared& place, double left_s) {
  const double paid_s = std::min(left_s, place.owed_s);
  place.owed_s -= paid_s;
  return left_s - paid_s;
}

void Team::end_thread(ThreadId thread, double at_s) {
  rest_s_[thread] = 0;
  --num_running_;
  last_arrival_s_ = std::max(last_arrival_s_, at_s);
}

void Team::run_place_in_slices(Shared& place, double end_s) {
  double left_s = pay(place, end_s - now_s_);
  auto& threads = place.threads;
  while (left_s > 0) {
    const auto next =
        std::find_if(threads.begin(), threads.end(), [&](ThreadId t) { return rest_s_[t] > 0; });
    if (next == threads.end()) {
      place.idle_s += left_s;
      return;
    }
    if (next != threads.begin() || place.slice_left_s <= 0) place.slice_left_s = slice_s_;
    std::rotate(threads.begin(), next, threads.end());
    const ThreadId t = threads.front();
    const double step_s = std::min({left_s, place.slice_left_s, rest_s_[t]});
    left_s -= step_s;
    place.slice_left_s -= step_s;
    gained_s_[t] += step_s;
    rest_s_[t] -= step_s;
    if (rest_s_[t] <= rounding_s_) end_thread(t, end_s - left_s);
    if (rest_s_[t] <= 0 || place.slice_left_s <= rounding_s_) {
      place.slice_left_s = 0;
      std::rotate(threads.begin(), threads.begin() + 1, threads.end());
    }
  }
}

void Team::run_place(Shared& place, double end_s) {
  if (slice_s_ > 0) return run_place_in_slices(place, end_s);
  for (double left_s = pay(place, end_s - now_s_); left_s > 0;) {
    double least_s = kNever;
    std::size_t running = 0;
    for (const ThreadId t : place.threads) {
      if (rest_s_[t] <= 0) continue;
      least_s = std::min(least_s, rest_s_[t]);
      ++running;
    }
    if (running == 0) {
      place.idle_s += left_s;
      return;
    }
    const double sharers = running;
    const double step_s = std::min(least_s, left_s / sharers);
    left_s = step_s < least_s ? 0 : left_s - least_s * sharers;
    for (const ThreadId t : place.threads) {
      if (rest_s_[t] <= 0) continue;
      gained_s_[t] += step_s;
      rest_s_[t] -= step_s;
      if (rest_s_[t] > rounding_s_) continue;
      end_thread(t, end_s - std::max(left_s, 0.0));
    }
  }
}

void Team::run_until(double end_s) {
  for (Shared& place : places_) run_place(place, end_s);
  // The phase ends when its last thread arrives at the barrier, which may be before end_s. The time
  // from this arrival to end_s does not count as idle, because the next phase begins at the
  // arrival.
  if (num_running_ > 0) {
    now_s_ = end_s;
    return;
  }
  for (Shared& place : places_) place.idle_s -= end_s - last_arrival_s_;
  now_s_ = last_arrival_s_;
}

void Team::sort_domain(DomainId d) {
  const auto& places = places_of_domain_[d];
  order_.clear();
  for (const PlaceId p : places) {
    order_.insert(order_.end(), places_[p].threads.begin(), places_[p].threads.end());
    places_[p].threads.clear();
  }
  // Sorts threads by progress, the least advanced first and blocked threads last. The balancer
  // knows only how much work a thread has done, not how much remains.
  const auto done_s = [&](ThreadId t) {
    return rest_s_[t] <= 0 ? kNever : (phase_ - 1.0) * work_s_[t] + work_s_[t] - rest_s_[t];
  };
  std::sort(order_.begin(), order_.end(), [&](ThreadId a, ThreadId b) {
    return done_s(a) != done_s(b) ? done_s(a) < done_s(b) : a < b;
  });
  const std::size_t blocked =
      std::find_if(order_.begin(), order_.end(), [&](ThreadId t) { return rest_s_[t] <= 0; }) -
      order_.begin();
  const std::size_t share = blocked / places.size(), num_slow = blocked % places.size();
  const std::size_t num_fast = places.size() - num_slow;
  std::size_t next = 0;
  for (; next < num_fast * share; ++next)
    places_[places[num_slow + next % num_fast]].threads.push_back(order_[next]);
  for (std::size_t slot = 0; next < blocked; ++next, ++slot)
    places_[places[slot % num_slow]].threads.push_back(order_[next]);
  // Distributes the blocked threads so that, when all threads run at the start of the next phase,
  // the numbers of threads on any two places differ by at most one.
  const std::size_t all_share = order_.size() / places.size();
  const std::size_t all_slow = order_.size() % places.size();
  for (std::size_t i = 0; i < places.size(); ++i)
    while (places_[places[i]].threads.size() < all_share + (i < all_slow))
      places_[places[i]].threads.push_back(order_[next++]);
}

void Team::sort_into_slots() {
  for (DomainId d = 0; d < places_of_domain_.size(); ++d) sort_domain(d);
  for (PlaceId p = 0; p < places_.size(); ++p)
    for (const ThreadId t : places_[p].threads) place_of_[t] = p;
}

std::uint64_t Team::swap() {
  std::vector<double> speed(places_.size());
  for (PlaceId p = 0; p < places_.size(); ++p) {
    double gained_s = 0;
    for (const ThreadId t : places_[p].threads) gained_s += gained_s_[t];
    const std::uint32_t num_threads = places_[p].threads.size();
    speed[p] = measured_speed(gained_s, num_threads, now_s_ - balanced_s_, places_[p].idle_s);
  }
  const std::vector<double> progress = progress_s();
  const double margin_s = (now_s_ - balanced_s_) * 1e-6;
  const auto swaps = juggle_swaps({progress, place_of_, speed, domain_of_}, margin_s);
  for (const Swap& swap : swaps) std::swap(place_of_[swap.behind], place_of_[swap.ahead]);
  for (PlaceId p = 0; p < places_.size(); ++p) {
    // Threads that stay keep their position in the place's queue; arriving threads go to its end.
    auto& threads = places_[p].threads;
    std::erase_if(threads, [&](ThreadId t) { return place_of_[t] != p; });
  }
  for (const Swap& swap : swaps)
    for (const ThreadId t : {swap.behind, swap.ahead}) places_[place_of_[t]].threads.push_back(t);
  return 2 * swaps.size();
}

void Team::charge(double point_cost_s, double migration_cost_s, std::span<const PlaceId> before) {
  for (Shared& place : places_) place.owed_s += point_cost_s;
  for (ThreadId t = 0; t < place_of_.size(); ++t)
    if (place_of_[t] != before[t]) places_[place_of_[t]].owed_s += migration_cost_s;
}

void Team::forget_gains() {
  std::fill(gained_s_.begin(), gained_s_.end(), 0);
  for (Shared& place : places_) place.idle_s = 0;
  balanced_s_ = now_s_;
}

std::vector<double> Team::progress_s() const {
  std::vector<double> progress_s(rest_s_.size());
  for (ThreadId t = 0; t < rest_s_.size(); ++t) progress_s[t] = phase_ * work_s_[t] - rest_s_[t];
  return progress_s;
}

bool is_periodic(const JuggleRun& run) {
  return run.balancing == Balancing::proactive || run.balancing == Balancing::hybrid;
}

double num_steps(const JuggleRun& run) {
  const double points = is_periodic(run) ? static_s(run.program) / run.period_s : 0;
  return points + 1.0 * run.program.phases * (run.balancing == Balancing::none ? 1 : 8);
}

/// The times of the periodic balancing points, which are one period apart, plus or minus a random
/// jitter.
class Clock {
 public:
  explicit Clock(const JuggleRun& run) : run_(run), random_(run.seed), is_on_(is_periodic(run)) {
    advance();
  }
  double next_s() const { return next_s_; }
  void advance() {
    ++ticks_;
    if (!is_on_)
      next_s_ = kNever;
    else if (run_.jitter == 0)
      next_s_ = ticks_ * run_.period_s;
    else
      next_s_ += run_.period_s * (1 + run_.jitter * random_.uniform(-1, 1));
  }

 private:
  const JuggleRun& run_;
  Random random_;
  bool is_on_;
  std::uint64_t ticks_ = 0;
  double next_s_ = 0;
};

}  // namespace

bool is_short(const JuggleRun& run) {
  return run.program.threads * num_steps(run) <= simulate_tuning::kMaxThreadSteps;
}

void check(const JuggleRun& run) {
  check(run.program);
  if (is_periodic(run)) check_period(run.period_s);
  if (!(run.jitter >= 0 && run.jitter < 1))
    fail("jitter is {}; give a fraction of the balancing period, at least 0 and below 1",
         run.jitter);
  if (!run.domain_of_place.empty() && run.domain_of_place.size() != run.program.places)
    fail("memory domains are given for {} of {} places; give one for every place or for none",
         run.domain_of_place.size(), run.program.places);
  if (!run.work_of_thread.empty() && run.work_of_thread.size() != run.program.threads)
    fail("work is given for {} of {} threads; give it for every thread or for none",
         run.work_of_thread.size(), run.program.threads);
  for (const double work : run.work_of_thread)
    if (!(work > 0 && std::isfinite(work)))
      fail(
          "the work of a thread is {} times the length of a phase; this factor must be above 0 and "
          "finite",
          work);
  if (!(run.point_cost_s >= 0 && run.migration_cost_s >= 0 && run.slice_s >= 0))
    fail(
        "a balancing point costs {} s, a migration costs {} s, and a time slice lasts {} s; each "
        "of these times must be at least 0",
        run.point_cost_s, run.migration_cost_s, run.slice_s);
  if (is_periodic(run) && run.point_cost_s >= run.period_s)
    fail("a balancing point costs {} s; that must be less than the balancing period of {} s",
         run.point_cost_s, run.period_s);
  if (run.slice_s > 0 &&
      (run.balancing == Balancing::reactive || run.balancing == Balancing::hybrid))
    fail(
        "time slices cannot be simulated with reactive or hybrid balancing; choose proactive "
        "balancing or none");
  if (run.program.threads > simulate_tuning::kMaxThreads ||
      run.program.places > simulate_tuning::kMaxPlaces)
    fail("simulation: {} threads on {} cpus are too many; the maximum is {} threads and {} cpus",
         run.program.threads, run.program.places, simulate_tuning::kMaxThreads,
         simulate_tuning::kMaxPlaces);
  if (!is_short(run))
    fail(
        "simulation: {:.3g} balancing points of {} threads on {} cpus would take too long to "
        "simulate; use a longer period, fewer phases or fewer threads",
        num_steps(run), run.program.threads, run.program.places);
}

double unequal_ideal_s(const SpmdProgram& program, std::span<const double> work_of_thread) {
  const double sum = std::accumulate(work_of_thread.begin(), work_of_thread.end(), 0.0);
  const double most = *std::max_element(work_of_thread.begin(), work_of_thread.end());
  return program.phases * program.phase_s * std::max(most, sum / program.places);
}

JuggleOutcome simulate_juggle(const JuggleRun& run, const JuggleObserver& observe) {
  check(run);
  const bool reacts = run.balancing == Balancing::reactive || run.balancing == Balancing::hybrid;
  Team team(run);
  Clock clock(run);
  JuggleOutcome outcome;
  for (std::uint64_t phase = 0; phase < run.program.phases; ++phase) {
    team.start_phase();
    while (team.num_running() > 0) {
      // All threads arrive at the barrier at horizon_s or earlier. So if the next event is later
      // than horizon_s, the phase ends before this event.
      const double horizon_s = team.now_s() + team.horizon_s();
      const double arrival_s = reacts ? team.next_arrival_s() : kNever;
      const bool is_due = clock.next_s() <= std::min(arrival_s, horizon_s);
      team.run_until(std::min({arrival_s, clock.next_s(), horizon_s}));
      if (reacts && !is_due) team.sort_into_slots();
      // There is nothing to balance if no balancing point is due, or if the phase ended before it.
      if (!is_due || team.now_s() < clock.next_s()) continue;
      if (observe) observe(team.now_s(), team.progress_s());
      ++outcome.balancing_points;
      clock.advance();
      const std::vector<PlaceId> before = team.places_of_threads();
      if (run.redistribution == Redistribution::swaps)
        outcome.migrations += team.swap();
      else
        team.sort_into_slots();
      team.charge(run.point_cost_s, run.migration_cost_s, before);
      team.forget_gains();
    }
  }
  outcome.completion_s = team.now_s();
  return outcome;
}

std::vector<DomainId> equal_domains(std::uint64_t places, std::uint64_t domains) {
  if (domains == 0 || domains > places)
    fail(
        "the number of memory domains is {}; it must be at least 1 and at most the number of cpus, "
        "{}",
        domains, places);
  std::vector<DomainId> domain_of;
  for (std::uint64_t d = 0; d < domains; ++d)
    domain_of.resize((places * (d + 1) + domains - 1) / domains, d);
  return domain_of;
}

}  // namespace poise
