// SPDX-License-Identifier: BSD-3-Clause
// Simulated cpus for tests and benchmarks of the thread balancer: threads that compute and meet at
// barriers, other programs beside them, and a kernel that shares each cpu in time slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/online/juggle_team.h"

namespace poise {

/// How threads wait at a barrier. With `yield` they spin, and yield their cpu to other threads.
enum class SimulatedWait : std::uint8_t { sleep, spin, yield, none };

/// A kernel that behaves like Linux. A cpu that becomes idle takes over a thread that waits on
/// another cpu. Otherwise the kernel moves waiting threads only rarely, and never outside their
/// affinity. It ignores which threads belong to the same program.
class SimulatedCpus {
 public:
  static constexpr double kStepS = 0.0001;

  struct Thread {
    std::uint64_t key = 0;
    int program = -1;               // -1: another program, which the balancer does not see
    std::vector<PlaceId> own = {};  // the thread's own affinity; empty: all places
    std::vector<PlaceId> now = {};  // affinity that the balancer has set; empty: the thread's own
    PlaceId cpu = 0;
    double rest_s = 0;  // work of the phase that the thread has not done yet
    /// Time at which the thread last began to wait for a cpu: when it became ready, or when its
    /// turn on a cpu ended.
    double ready_s = 0;
    double rest_of_turn_s = 0;  // rest of the thread's time slice when the balancer moved it
    bool waits = false;
    double run_s = 0, wait_s = 0, work_s = 0;
    double reported_wait_s = 0;  // wait_s, excluding a wait that has not ended (reports_late)
    double yielded_s = -1e9;     // time at which the thread last yielded its cpu
    std::uint64_t turns = 0;
    const std::vector<PlaceId>& allowed() const { return now.empty() ? own : now; }
  };
  struct Program {
    double phase_s = 0;
    SimulatedWait wait = SimulatedWait::none;
    std::uint64_t phases = 0;  // completed
    bool has_ended = false;
  };

  SimulatedCpus(JuggleTeam& team, std::uint32_t num_cpus)
      : team_(team), queues_(num_cpus), slice_left_s_(num_cpus, 0.003) {}

  /// Adds threads that, again and again, compute for phase_s and then wait for each other. `own`
  /// has one affinity per thread.
  int add_program(double phase_s, SimulatedWait wait,
                  const std::vector<std::vector<PlaceId>>& own) {
    programs.push_back({phase_s, wait});
    for (const auto& affinity : own)
      add({.program = static_cast<int>(programs.size()) - 1, .own = affinity, .rest_s = phase_s});
    return static_cast<int>(programs.size()) - 1;
  }
  /// Adds another program that computes all the time.
  void add_stranger(const std::vector<PlaceId>& own = {}) { add({.own = own}); }
  void end(int program) {
    programs[program].has_ended = true;
    for (std::size_t t = 0; t < threads.size(); ++t)
      if (threads[t].program == program) leave_queue(t);
  }
  /// Makes all threads of the program sleep, or wakes them up.
  void set_asleep(int program, bool sleeps) {
    for (std::size_t t = 0; t < threads.size(); ++t) {
      if (threads[t].program != program || threads[t].waits) continue;
      if (sleeps)
        leave_queue(t);
      else
        wake(t);
    }
  }
  void end_strangers() {
    for (std::size_t t = 0; t < threads.size(); ++t)
      if (threads[t].program < 0) leave_queue(t);
  }

  void run_until(double end_s) {
    while (now_s < end_s) {
      std::vector<ThreadReading> readings;
      for (const Thread& thread : threads)
        if (is_seen(thread)) readings.push_back(reading_of(thread));
      for (const JuggleOrder& order : team_.balance(readings, now_s)) carry_out(order);
      const double next_s = now_s + team_.next_s() * random_.uniform(0.9, 1.1);
      while (now_s < next_s) {
        step();
        if (reports_waits && team_.is_reacting()) react();
      }
    }
  }

  std::vector<Thread> threads;
  std::vector<Program> programs;
  double now_s = 0;
  int orders = 0;
  double slice_s = 0.003;        // length of a time slice
  double rotates_every_s = 0.1;  // the kernel moves a waiting thread once in this many seconds
  bool reports_late = false;     // as in Linux: a wait for a cpu is reported only when it ends
  /// True: a moved thread waits no longer than it would have on its old cpu, and keeps the rest of
  /// its time slice, about as on Linux. False: it waits behind all other threads of its new cpu.
  bool keeps_claims = true;
  bool counts_turns = true;
  bool counts_work = false, reports_waits = false;
  /// True if the affinity of the threads has more cpus than their quota allows.
  bool is_limited = false;
  std::vector<double> speed = {};  // per cpu; empty: all cpus have speed 1

 private:
  bool is_seen(const Thread& thread) const {
    return thread.program >= 0 && !programs[thread.program].has_ended;
  }
  ThreadReading reading_of(const Thread& thread) const {
    ThreadReading reading{.key = thread.key,
                          .run_s = thread.run_s,
                          .wait_s = reports_late ? thread.reported_wait_s : thread.wait_s};
    reading.is_bound = !thread.own.empty() && thread.own.size() < queues_.size();
    if (thread.own.size() == 1) reading.own_place = thread.own.front();
    if (counts_turns) reading.turns = thread.turns;
    if (counts_work) reading.work = thread.work_s;
    if (reports_waits) reading.waits = report_of(thread);
    reading.is_beyond = is_limited;
    return reading;
  }
  WaitReport report_of(const Thread& thread) const {
    const bool sleeps = wait_of(thread) == SimulatedWait::sleep;
    return {.is_inside = thread.waits && sleeps, .since_yield_s = now_s - thread.yielded_s};
  }
  SimulatedWait wait_of(const Thread& thread) const {
    return thread.program < 0 ? SimulatedWait::none : programs[thread.program].wait;
  }
  void react() {
    std::vector<JuggleTeam::Wait> waits;
    for (const Thread& thread : threads)
      if (is_seen(thread)) waits.push_back({thread.key, report_of(thread)});
    for (const JuggleOrder& order : team_.react_to(waits)) carry_out(order);
  }
  void carry_out(const JuggleOrder& order) {
    ++orders;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      if (threads[t].key != order.key) continue;
      threads[t].now.clear();
      for (PlaceId p = 0; order.is_wide && p < queues_.size(); ++p) threads[t].now.push_back(p);
      if (order.place && !order.is_wide) threads[t].now = {*order.place};
      if (!may_use(threads[t], threads[t].cpu)) move(t, threads[t].allowed().front());
      fill_idle_cpus();  // Linux fills idle cpus before the balancer moves the next thread
    }
  }
  static bool may_use(const Thread& thread, PlaceId cpu) {
    const auto& allowed = thread.allowed();
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
  }
  void add(Thread thread) {
    thread.key = ++last_key_;
    threads.push_back(thread);
    wake(threads.size() - 1);
  }
  /// Makes a thread ready: puts it on the cpu that has the fewest ready threads among the cpus that
  /// the thread may use.
  void wake(std::size_t t) {
    PlaceId to = threads[t].cpu;
    if (!may_use(threads[t], to)) to = threads[t].allowed().front();
    for (PlaceId p = 0; p < queues_.size(); ++p)
      if (may_use(threads[t], p) && queues_[p].size() < queues_[to].size()) to = p;
    threads[t].cpu = to;
    threads[t].ready_s = now_s;
    threads[t].rest_of_turn_s = 0;
    join(t, to);
  }
  void begin_turn(PlaceId cpu) {
    slice_left_s_[cpu] = slice_s;
    if (queues_[cpu].empty()) return;
    Thread& thread = threads[queues_[cpu].front()];
    if (const double rest_s = std::exchange(thread.rest_of_turn_s, 0); rest_s > 0)
      slice_left_s_[cpu] = rest_s;
    ++thread.turns;
    thread.reported_wait_s = thread.wait_s;
  }
  void leave_queue(std::size_t t) {
    auto& queue = queues_[threads[t].cpu];
    const auto at = std::find(queue.begin(), queue.end(), t);
    if (at == queue.end()) return;
    threads[t].reported_wait_s = threads[t].wait_s;
    const bool was_running = at == queue.begin();
    if (was_running && keeps_claims) threads[t].rest_of_turn_s = slice_left_s_[threads[t].cpu];
    queue.erase(at);
    if (was_running) begin_turn(threads[t].cpu);
  }
  void move(std::size_t t, PlaceId to) {
    auto& queue = queues_[threads[t].cpu];
    const bool is_ready = std::find(queue.begin(), queue.end(), t) != queue.end();
    if (is_ready) leave_queue(t);
    threads[t].cpu = to;
    if (is_ready) join(t, to);
  }
  /// Puts a ready thread into the queue of a cpu. If keeps_claims is true, the thread runs before
  /// all threads that have waited less.
  void join(std::size_t t, PlaceId to) {
    auto& queue = queues_[to];
    auto at = queue.begin() + (queue.empty() ? 0 : 1);
    while (at != queue.end() && (!keeps_claims || threads[*at].ready_s <= threads[t].ready_s)) ++at;
    queue.insert(at, t);
    if (queue.size() == 1) begin_turn(to);
  }
  /// Returns a thread that waits for its turn on another cpu and may use the cpu `to`. The other
  /// cpu must have at least `least` ready threads. Returns nothing if there is no such thread.
  std::optional<std::size_t> waiting_for(PlaceId to, std::size_t least) const {
    for (PlaceId from = 0; from < queues_.size(); ++from)
      for (std::size_t i = 1; from != to && i < queues_[from].size(); ++i)
        if (queues_[from].size() >= least && may_use(threads[queues_[from][i]], to))
          return queues_[from][i];
    return {};
  }
  void fill_idle_cpus() {
    for (PlaceId p = 0; p < queues_.size(); ++p)
      if (const auto t = queues_[p].empty() ? waiting_for(p, 2) : std::nullopt) move(*t, p);
  }
  void balance_like_linux() {
    fill_idle_cpus();
    if (now_s < rotate_s_) return;
    rotate_s_ = now_s + rotates_every_s;
    PlaceId idlest = 0;
    for (PlaceId p = 1; p < queues_.size(); ++p)
      if (queues_[p].size() < queues_[idlest].size()) idlest = p;
    if (const auto t = waiting_for(idlest, queues_[idlest].size() + 1)) move(*t, idlest);
  }
  void step() {
    balance_like_linux();
    now_s += kStepS;
    std::vector<std::size_t> arrived;
    for (PlaceId p = 0; p < queues_.size(); ++p) {
      if (queues_[p].empty()) continue;
      for (std::size_t i = 1; i < queues_[p].size(); ++i) threads[queues_[p][i]].wait_s += kStepS;
      const std::size_t t = queues_[p].front();
      if (compute(threads[t])) arrived.push_back(t);
      slice_left_s_[p] -= kStepS;
      const bool yields = threads[t].waits && wait_of(threads[t]) == SimulatedWait::yield;
      if (yields) threads[t].yielded_s = now_s;
      if (slice_left_s_[p] > 0 && !yields) continue;
      queues_[p].pop_front();
      queues_[p].push_back(t);
      threads[t].ready_s = now_s;
      if (queues_[p].size() > 1) begin_turn(p);
      slice_left_s_[p] = slice_s;
    }
    for (const std::size_t t : arrived) arrive(t);
  }
  /// Lets the thread run for one step. Returns true if the thread reaches its barrier in this step.
  bool compute(Thread& thread) {
    thread.run_s += kStepS;
    if (thread.program < 0 || thread.waits) return false;
    const double done_s = kStepS * (speed.empty() ? 1 : speed[thread.cpu]);
    thread.work_s += done_s;
    thread.rest_s -= done_s;
    return thread.rest_s <= kStepS / 2 && wait_of(thread) != SimulatedWait::none;
  }
  void arrive(std::size_t t) {
    Program& program = programs[threads[t].program];
    threads[t].waits = true;
    if (program.wait == SimulatedWait::sleep) leave_queue(t);
    for (const Thread& other : threads)
      if (other.program == threads[t].program && !other.waits) return;
    ++program.phases;
    for (std::size_t other = 0; other < threads.size(); ++other) {
      if (threads[other].program != threads[t].program) continue;
      threads[other].waits = false;
      threads[other].rest_s = program.phase_s;
      if (program.wait == SimulatedWait::sleep) wake(other);
    }
  }

  JuggleTeam& team_;
  std::vector<std::deque<std::size_t>> queues_;  // per cpu: ready threads, the first one runs
  std::vector<double> slice_left_s_;
  double rotate_s_ = 0.1;
  std::uint64_t last_key_ = 0;
  Random random_{1};
};

}  // namespace poise
