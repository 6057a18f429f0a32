// SPDX-License-Identifier: BSD-3-Clause
// All numbers that the simulation itself chooses: its limits, and its assumptions about the
// runtimes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::simulate_tuning {

// --- Messages and links -------------------------------------------------------------------------

/// Maximum size in bytes of the pieces in which messages travel if links are queues.
inline constexpr std::uint64_t kPieceBytes = 4096;
/// Maximum number of parallel links of which an uplink consists.
inline constexpr double kMaxLinksPerUplink = 1e6;
/// Limits on the work of the fluid model. To compute all rates once, the model visits each
/// resource on each route (a stop), in about 10 ns per visit. Exchanges with at most
/// kMaxExactVisits visits are simulated exactly. In larger exchanges, starts and ends of messages
/// that are close together count as simultaneous, so that rates are computed less often: about
/// kMaxVisits / stops times, but at least kMinComputations and at most kMaxComputations times.
inline constexpr double kMaxExactVisits = 1e6, kMaxVisits = 1e8;
inline constexpr double kMinComputations = 50, kMaxComputations = 200;
static_assert(kMaxExactVisits < kMaxVisits && kMinComputations < kMaxComputations);

// --- Balancing steps ----------------------------------------------------------------------------

/// Bytes that a place sends to place 0 before a decision: for each task its load, size and ID,
/// and for each message both ends, count and bytes.
inline constexpr double kReportBytesPerTask = 24, kReportBytesPerMessage = 24;
/// Bytes that place 0 sends back to a place for each task there: the new place of the task.
inline constexpr double kAnswerBytesPerTask = 4;
/// Limit on the cache that holds the traffic of phases: the number of pairs of communicating
/// places, summed over the cached phases. If the cache exceeds the limit, the whole cache is
/// emptied before another phase is added. At the limit, the cache takes 2 GB.
inline constexpr std::size_t kMaxCachedPairs = std::size_t{1} << 25;
/// Limits on what a predictor sees: number of past steps, and number of past loads (one per task
/// and step), which take 128 MB.
inline constexpr std::size_t kMaxPastSteps = 1000, kMaxPastLoads = std::size_t{1} << 24;
/// Unpacking is not slowed down while at most this fraction of the memory is used. The value is
/// assumed.
inline constexpr double kRelaxedFill = 0.8;

// --- Lending ------------------------------------------------------------------------------------

/// Seconds between two polls of an idle rank that may still send requests.
inline constexpr double kIdlePoll_s = 50e-6;
/// kHeaderBytes: bytes of a message in addition to its tasks. kHeaderBytesOfTask: bytes of a lent
/// task in addition to its data, for the headers of the task and of its result.
inline constexpr double kHeaderBytes = 256, kHeaderBytesOfTask = 128;
/// Data of at least this many bytes are sent separately, so that their receiver learns the speed of
/// the link; see `large_bytes` in docs/tasks.md.
inline constexpr double kLargeBytes = 16384;
/// A pause between two tasks is not recorded if it is shorter than this, in seconds.
inline constexpr double kMinIdle_s = 10e-6;

// --- Replays ------------------------------------------------------------------------------------

/// Maximum number of steps of a replay. It limits the memory, because every step is stored.
inline constexpr std::uint64_t kMaxSteps = 1'000'000;

// --- Threads that Juggle moves ------------------------------------------------------------------

/// Maximum number of balancing points in one phase.
inline constexpr double kMaxPoints = 1e5;
/// The margin xi of Juggle's paper as a fraction of the period: a thread is ahead only if
/// its progress exceeds the average by more than this margin; otherwise it is behind. The margin
/// can be tiny, because the simulation knows progress exactly.
inline constexpr double kMargin = 1e-6;
/// Limits on the number of threads, on the number of places, and on the product threads * steps.
/// Each balancing point counts as one step, and each phase as up to eight steps. A step takes about
/// 50 ns per thread, so a simulation takes at most about 10 s.
inline constexpr std::uint64_t kMaxThreads = 1'000'000, kMaxPlaces = 1'000'000;
inline constexpr double kMaxThreadSteps = 2e8;
/// Shortest period in seconds that is advised: five ticks of a 250 Hz kernel. With shorter periods,
/// threads do not get equal parts of a place's time.
inline constexpr double kMinPeriod_s = 0.020;
/// A speed-up counts as good if it is at least this fraction of the ideal speed-up.
inline constexpr double kGoodShare = 0.97;
/// Smallest speed-up, relative to threads that never move, that justifies moving threads.
inline constexpr double kWorthGaining = 1.02;
/// Maximum number of phases that are simulated to compute advice. If a program has more phases,
/// only the first ones are simulated.
inline constexpr std::uint64_t kPhasesTried = 50;

}  // namespace poise::simulate_tuning
