// SPDX-License-Identifier: BSD-3-Clause
// The measurements of one rank in one phase.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtimes/profile/function.h"
#include "runtimes/profile/pair_table.h"

namespace poise::profile {

/// What a rank may wait for. `collective`: the last rank in a blocking collective. `message`: the
/// other rank of a send or receive, a neighbour in a neighbourhood collective, or the last rank in
/// a non-blocking collective. All waits of the kind `message` are counted together, because one
/// call may wait for a message and for a non-blocking collective.
enum class WaitsFor : std::uint8_t { collective, message };
inline constexpr int kNumWaits = 2;

/// Sums of times and calls. Useful time is the time that the thread which initialised MPI spends
/// outside MPI.
struct Totals {
  std::int64_t useful_ns = 0;
  /// Wall and CPU time of the long stretches between MPI calls, for which the CPU clock was read.
  std::int64_t long_wall_ns = 0, long_cpu_ns = 0;
  std::int64_t useful_queued_ns = 0;  // part of useful_ns: ready to run, but not on a cpu
  std::array<std::int64_t, kNumKinds> mpi_ns = {};
  std::array<std::uint64_t, kNumKinds> calls = {};
  std::uint64_t not_understood = 0;    // calls that may send, but whose traffic is not known
  std::uint64_t outside_messages = 0;  // messages to ranks that are not in MPI_COMM_WORLD
  // Calls in which a rank may have waited for another rank, whether they were sampled or not.
  std::array<std::int64_t, kNumWaits> may_wait_ns = {};
  std::array<std::uint64_t, kNumWaits> may_wait_calls = {};
  Totals& operator+=(const Totals& other);
  Totals& operator-=(const Totals& other);
};

/// The kernel's measurements of the thread and its process.
struct Machinery {
  /// Since the start of the run: time on a cpu, and time ready to run but not on a cpu.
  std::int64_t run_ns = 0, queued_ns = 0;
  std::uint64_t peak_bytes = 0;  // high-water mark of resident memory
  std::int32_t cpu = -1;         // where the thread runs; -1: not known
};

/// Time waited for late ranks, found by comparing the same sampled calls on several ranks.
struct Waiting {
  std::uint32_t samples = 0;         // number of sampled calls
  std::int64_t sampled_ns = 0;       // total duration of the sampled calls
  std::int64_t waited_ns = 0;        // part of sampled_ns spent waiting
  std::int64_t for_receiver_ns = 0;  // part of waited_ns in which a sender waited for its receiver
  // Sums over the sampled calls, in s^2: of the squared waiting time, of the squared duration, and
  // of the product of waiting time and duration.
  double wait_squares = 0, time_squares = 0, products = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> for_whom = {};  // (late rank, ns waited)
};

/// A number of seconds, and the half width of its 95 % confidence interval.
struct Estimate {
  double seconds = 0, half_width_s = 0;
};

/// Estimates how long the rank waited in all `calls` calls of a phase, which took `calls_ns` in
/// total. If all calls were sampled, the result is exact. Otherwise all calls are assumed to have
/// waited for the same fraction of their duration as the sampled calls.
Estimate estimated(const Waiting& waiting, std::uint64_t calls, std::int64_t calls_ns);

/// Like estimated(), for a phase with `calls` calls of which none was sampled. `waiting` has
/// samples of similar calls in other phases. All phases without samples have `calls_elsewhere`
/// calls in total, and share the error of the assumed fraction. This error is divided among these
/// phases so that their squared half widths add up to the squared half width of their total waiting
/// time.
Estimate extrapolated(const Waiting& waiting, std::uint64_t calls, std::int64_t calls_ns,
                      std::uint64_t calls_elsewhere);

struct Phase {
  std::uint64_t label = 0;  // the label given by MPI_Pcontrol; 0: none
  std::int64_t begin_ns = 0, end_ns = 0;
  Totals totals = {};
  std::int64_t useful_cpu_ns = 0;
  std::int64_t queued_ns = 0;  // time ready to run but not on a cpu, inside and outside MPI
  std::uint64_t peak_bytes = 0;
  std::int32_t cpu = -1;
  std::vector<Traffic> traffic = {};
  std::array<Waiting, kNumWaits> waiting = {};  // by WaitsFor
};

/// The CPU time outside MPI. For long stretches between MPI calls it was read from the CPU clock.
/// All of a short stretch counts as CPU time: a preempted thread waits for milliseconds, so a
/// stretch in which the thread was preempted is never short.
std::int64_t useful_cpu_ns(const Totals& totals);

/// Adds a phase to an earlier one. Times and counts are added up; the end and the cpu are those of
/// the later phase; the peak memory is the larger one.
void merge(Phase& into, const Phase& later);

}  // namespace poise::profile
