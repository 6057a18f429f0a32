// SPDX-License-Identifier: BSD-3-Clause
// Constants of the machine model that were chosen by its authors: what is assumed where nothing was
// measured, and how long the probes measure. Limits on the input are beside the code that reads it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::machine_tuning {

// --- Assumptions about a machine that was not measured ------------------------------------------

/// Latency to another memory domain, relative to the latency inside a domain.
inline constexpr double kAssumedNumaFactor = 1.5;
/// Latency to another host, relative to the latency of local memory.
inline constexpr double kAssumedNetworkFactor = 10;
/// Work per cycle of a small core, relative to that of a large core, if only the clock frequencies
/// are known.
inline constexpr double kWorkPerCycleOfSmallCore = 0.7;
/// Speed of a kind of core relative to the next faster kind, if only the order of the kinds is
/// known.
inline constexpr double kSpeedOfNextKind = 0.75;
/// Assumed bandwidth in bytes per second of a domain's memory bus: the number of places of the
/// largest domain times the first constant, but at least the second constant.
inline constexpr double kBusPerPlace_bytes_per_s = 3.5e9, kMinBus_bytes_per_s = 2e10;

// --- Time for measuring (`poise measure`) -------------------------------------------------------

/// Shares of the measuring time: for latencies between domains, for bandwidths between domains, and
/// for latencies between places inside one group of a level.
inline constexpr double kLatencyShare = 0.4, kBandwidthShare = 0.4, kLevelShare = 0.2;
static_assert(kLatencyShare + kBandwidthShare + kLevelShare < 1 + 1e-9);
/// Minimum and maximum number of repetitions of a probe. If time is short, there are fewer
/// repetitions rather than shorter probes.
inline constexpr int kMinRepeats = 3, kMaxRepeats = 9;
static_assert(kMinRepeats < kMaxRepeats);
/// Shortest duration of one repetition in seconds, for latencies and for bandwidths.
inline constexpr double kMinLatencyProbe_s = 0.001, kMinBandwidthProbe_s = 0.004;
/// Longest duration in seconds of one repetition of a probe between domains, and of a probe between
/// places inside one group of a level.
inline constexpr double kMaxProbe_s = 0.4, kMaxLevelProbe_s = 0.1;
/// Number of pairs of places that are measured per level of the machine.
inline constexpr std::size_t kPairsPerLevel = 3;

// --- Probes -------------------------------------------------------------------------------------

/// Smallest size of the memory that a probe uses, and the largest sizes: for probes of latencies
/// and for probes of bandwidths. The memory must be much larger than the caches.
inline constexpr std::size_t kMinProbe_bytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxLatencyProbe_bytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxBandwidthProbe_bytes = std::size_t{4} << 30;
/// Steps of a latency probe between two readings of the clock.
inline constexpr std::size_t kStepsPerReading = 4096;
/// Number of turns of a ping-pong before its time is measured, and number of turns between two
/// readings of the clock.
inline constexpr std::uint64_t kWarmUpTurns = 256, kTurnsPerReading = 64;
/// A thread that waits for its turn reads the clock after this many unsuccessful tries.
inline constexpr std::uint64_t kSpinsPerReading = 1 << 14;
/// Seconds to wait for a thread whose core is busy with other work.
inline constexpr double kPatience_s = 2;

}  // namespace poise::machine_tuning
