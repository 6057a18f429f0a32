// What the balancer did and what it cost, kept while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtimes/juggle/cpus.h"

namespace poise::juggle {

/// A thread as last seen.
struct ThreadTally {
  std::uint64_t key = 0;
  pid_t process = 0, id = 0;
  bool took_part = false, takes_part = false;
  int cpu = -1;                         // to which it is pinned; -1: none
  double part_since_s = 0, seen_s = 0;  // since the balancer's start
  double run_s = 0;                     // on a cpu while it took part
  double lag_s = 0;                     // behind the average of those who take part
  std::uint64_t migrations = 0;
};

/// A stay of a thread on a cpu that the balancer chose.
struct Stay {
  pid_t process = 0, id = 0;
  CpuId cpu = 0;
  double from_s = 0, to_s = 0;
};

struct Tally {
  double elapsed_s = 0;
  double balancing_s = 0;            // of that, while it balanced
  double own_cpu_s = 0;              // cpu time of the balancer, all in all
  std::uint64_t wake_ups = 0;        // of the balancer, all in all
  std::uint64_t early_wake_ups = 0;  // of these, before a point was due: for signals
  std::uint64_t visits = 0;          // probes of the speeds of cpus: a wake-up each
  std::uint64_t rounds = 0, migrations = 0, refusals = 0, own_choices = 0;
  double least_round_s = 0, rounds_cpu_s = 0;  // cpu time of one round, of all
  // Of these, the rounds without a scan, a migration or a probe.
  std::uint64_t still_rounds = 0;
  double still_rounds_cpu_s = 0;
  double program_run_s = 0;  // cpu time of the program's threads, as far as seen
  // While threads took part: how long, and the cpu time they could have had between two rounds,
  // summed over the threads, if all had the same, and if none had moved and all waited for the
  // slowest.
  double part_s = 0, threads_s = 0, fair_s = 0, static_s = 0;
  double period_s = 0;
  Cpus cpus;
  std::vector<double> speeds;  // of these cpus, against the fastest
  bool is_balancing = false;
  std::uint32_t most_threads = 0;    // that took part at once
  std::vector<ThreadTally> threads;  // those that took part
  std::vector<Stay> stays;           // only when a trace was asked for
};

}  // namespace poise::juggle
