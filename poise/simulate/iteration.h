// SPDX-License-Identifier: BSD-3-Clause
// The event engine: simulates an iteration of a program. Messages share the machine's resources.
//
// A place works, sends, and receives, one after the other:
//   1. it does the share 1 - overlap of its work;
//   2. it sends to each of its partners; each sending takes the sender's CPU time;
//   3. it does the rest of its work;
//   4. it receives what has arrived, in the order of arrival (ties: by sender, then by receiver);
//      each receiving takes the receiver's CPU time.
// All messages from one place to another leave together, as one flow. After its latency, the flow
// competes for the resources on its route with everything else in flight (fluid.h or queues.h). It
// arrives when its last byte has passed them. Messages above the eager limit wait until the
// receiver has done step 1, because only then does it ask for them (rendezvous). The iteration ends
// when the last place has received everything. All places wait for that; the time of a barrier is
// not counted (barrier.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "poise/simulate/memory_pressure.h"
#include "poise/simulate/routing.h"
#include "poise/simulate/traffic.h"
#include "poise/simulate/tuning.h"

namespace poise {

/// The ways in which messages share a resource.
enum class Sharing : std::uint8_t {
  fluid,  // messages share a resource at the same time, max-min fairly
  queue   // a resource serves one message after the other, first come, first served
};
std::string_view name_of(Sharing sharing);
/// Returns the way of sharing with this name. Throws Error if there is none.
Sharing sharing_named(std::string_view name);

struct EngineOptions {
  Sharing sharing = Sharing::fluid;
  /// Messages above this size are sent by rendezvous. MPI libraries switch to it at 4 KiB to 256
  /// KiB; the default is an assumption within this range.
  std::uint64_t eager_bytes = 65536;
  /// Number of latencies that a rendezvous adds: one for the request and one for the answer.
  double handshake_latencies = 2;
  /// Maximum size of the pieces in which messages travel, for Sharing::queue.
  std::uint64_t piece_bytes = simulate_tuning::kPieceBytes;
  /// For Sharing::fluid: starts and ends of messages count as simultaneous if the time between them
  /// is below this fraction of the time for which the busiest resource is occupied. Without a
  /// value, the fraction is 0 for small exchanges, and for larger ones it is large enough to limit
  /// the time that the simulation takes.
  std::optional<double> precision = {};
  /// If above 0, tasks are threads that share their places, and Juggle moves them once per period
  /// of this length (threads.h). If 0, a place runs one task after the other. Only replays use this
  /// option.
  double juggle_period_s = 0;
  /// How messages choose their routes through the links of the network.
  Routing routing = {};
  /// Slows down migrations into memory that is nearly full. Only replays use this option.
  MemoryPressure pressure = {};
  /// Whether iterations end with a barrier that takes time (barrier.h). Only replays use this
  /// option.
  bool has_barrier = false;
};

/// The times of a place, in seconds since the start of the iteration.
struct PlaceRun {
  double sends_s = 0;  // time at which the place began to send
  /// Time at which the place had sent everything and began the rest of its work.
  double sent_s = 0;
  double worked_s = 0;     // time at which the place had done all its work
  double ends_s = 0;       // time at which the place had received everything
  double receiving_s = 0;  // seconds of receiving, between worked_s and ends_s
  /// Seconds before worked_s in which the place had no task to run, if places lend tasks
  /// (EventSteps).
  double idle_s = 0;

  /// Seconds for which the CPU was busy with work, sending and receiving.
  double busy_s() const { return worked_s - idle_s + receiving_s; }
};

struct Iteration {
  double end_s = 0;     // time at which the last place ends its iteration
  double window_s = 0;  // starts and ends that are closer than this count as simultaneous
  std::vector<PlaceRun> places;

  /// Idle time of all places (time without work, sending or receiving) divided by their total time.
  double idle_share() const;
};

/// Simulates an iteration. work_s has one entry per place; `overlap` is that of the workload. With
/// Sharing::queue, the simulation takes O(stops log pairs), where a stop is a resource on the route
/// of a pair. With Sharing::fluid, all rates (fluid.h) are computed anew whenever a message starts
/// or ends; in large exchanges, starts and ends are merged, so that rates are computed only a few
/// hundred times.
Iteration simulate_iteration(const Traffic& traffic, std::span<const double> work_s, double overlap,
                             const EngineOptions& options = {});

/// Seconds that an exchange of messages takes from start to end if no place does any work.
double exchange_s(const Traffic& traffic, const EngineOptions& options = {});

}  // namespace poise
