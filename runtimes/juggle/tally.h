// SPDX-License-Identifier: BSD-3-Clause
// A record of the balancer's work and of its cost, made while the balancer runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtimes/juggle/cpus.h"

#include "poise/online/juggle_causes.h"
#include "poise/online/juggle_stance.h"

namespace poise::juggle {

/// The state of a thread when it was last seen.
struct ThreadTally {
  std::uint64_t key = 0;
  pid_t process = 0, id = 0;
  bool took_part = false, takes_part = false;
  int cpu = -1;                         // the cpu to which the thread is pinned; -1: none
  double part_since_s = 0, seen_s = 0;  // when its balancing began; when it was last seen
  double run_s = 0;                     // seconds on a cpu while the thread was balanced
  double lag_s = 0;                     // seconds behind the average of the balanced threads
  std::uint64_t migrations = 0;
};

/// An interval during which a thread stayed on one cpu, chosen by the balancer.
struct Stay {
  pid_t process = 0, id = 0;
  CpuId cpu = 0;
  double from_s = 0, to_s = 0;
};

struct Tally {
  double elapsed_s = 0;
  double balancing_s = 0;            // seconds during which balancing was on
  double own_cpu_s = 0;              // cpu time of the balancer, without the start-up of poise
  std::uint64_t wake_ups = 0;        // total wake-ups of the balancer
  std::uint64_t early_wake_ups = 0;  // wake-ups by signals before a balancing point was due
  std::uint64_t reactions = 0;       // wake-ups because threads reported that they wait
  std::uint64_t visits = 0;          // probes of cpu speeds; each probe wakes a thread
  std::uint64_t rounds = 0, migrations = 0, refusals = 0, own_choices = 0;
  // Cpu time of the balancer: in its cheapest round, and in all rounds together.
  double least_round_s = 0, rounds_cpu_s = 0;
  // Number of rounds of the balancer without a scan, a migration or a probe, and the cpu time of
  // these rounds.
  std::uint64_t still_rounds = 0;
  double still_rounds_cpu_s = 0;
  double program_run_s = 0;  // cpu time of the threads that the balancer has seen
  // part_s: the time during which at least one thread was balanced.
  // The other three numbers are sums over all threads.
  // threads_s: the time during which a thread was balanced.
  // fair_s: the cpu time that a thread could have used in that time if all threads had got equal
  // shares.
  // static_s: the cpu time that a thread could have used in that time if no thread had migrated and
  // all had waited for the slowest.
  double part_s = 0, threads_s = 0, fair_s = 0, static_s = 0;
  double period_s = 0;
  Cpus cpus;
  std::vector<double> speeds;  // of `cpus`, relative to the fastest
  bool is_balancing = false;
  JuggleAction action = JuggleAction::leave;  // what the balancer does with the threads now
  JuggleFacts facts;                          // the facts on which the diagnosis is based
  JuggleTuning tuning;                        // the tuning constants of the balancer's decisions
  std::uint32_t most_threads = 0;             // maximum number of threads balanced at once
  std::vector<ThreadTally> threads;           // all threads that were balanced
  std::vector<Stay> stays;                    // recorded only if a trace is wanted
};

}  // namespace poise::juggle
