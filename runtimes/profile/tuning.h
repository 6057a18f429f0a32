// SPDX-License-Identifier: BSD-3-Clause
// Every number of the profile that was chosen rather than given.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::profile::tuning {

/// A CPU clock is a system call of about 0.5 us: read round useful stretches at least this long
/// only.
inline constexpr std::int64_t kLongStretch_ns = 100'000;

/// Phases of one series in memory; when more come, neighbours with the same label are merged.
inline constexpr std::size_t kMaxPhases = 1024;
/// Time slices, for programs without phases, begin with this length, and double when there are
/// many.
inline constexpr std::int64_t kSlice_ns = 1'000'000'000;

/// The string of collectives that is searched for a period, and the repeats that must agree.
inline constexpr std::size_t kMaxTokens = 4096;
inline constexpr std::size_t kRepeats = 3;
/// A period is lost when more than one token in this many is odd.
inline constexpr std::size_t kOddShare = 8;
/// Phases shorter than this on all ranks are merged at the end.
inline constexpr std::int64_t kMinPhase_ns = 10'000'000;

/// Entry times of collectives kept per communicator; when more come, every second is dropped.
inline constexpr std::size_t kMaxSamples = 1 << 17;

/// Ends of messages kept per rank, sends and receives each; when more come, every second is
/// dropped. 48 bytes each.
inline constexpr std::size_t kMaxEnds = 1 << 17;
/// Streams (pair, communicator, tag) whose messages a rank numbers; waits are not looked for in
/// more.
inline constexpr std::size_t kMaxStreams = 1 << 18;
/// Receives that wait for their number behind one from any source; when more do, waits are no
/// longer looked for.
inline constexpr std::size_t kMaxQueuedReceives = 256;

/// Messages to and fro by which two hosts compare their clocks; the fastest counts.
inline constexpr int kClockRounds = 32;

/// An Allreduce of up to this size is taken for recursive doubling, a longer one for a ring.
inline constexpr std::uint64_t kLongAllreduce_bytes = 1 << 16;

/// Topologies with more ranks or edges keep their order: one rank holds 100 bytes per rank and 12
/// per edge, and decides for seconds.
inline constexpr int kMaxReorderedRanks = 1 << 16;
inline constexpr std::int64_t kMaxReorderedEdges = 1 << 22;

static_assert(kMaxPhases % 2 == 0 && kMaxSamples % 2 == 0, "halves are dropped");

}  // namespace poise::profile::tuning
