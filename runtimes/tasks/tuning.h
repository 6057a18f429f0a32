// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the tasks runtime that is not a setting: its value, unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::tasks::tuning {

// --- Numbers for running tasks and polling ------------------------------------------------------

/// Seconds without a poll after which nothing of the last poll is left in the caches. The cost of a
/// poll is learnt from polls after such a pause.
inline constexpr double kColdPoll_s = 100e-6;
/// Maximum number of nested tasks on one thread that wait for their children; each keeps its stack.
inline constexpr unsigned kMaxNestedWaits = 32;
/// Maximum number of finished tasks whose memory a pool keeps for new ones (3 MiB).
inline constexpr std::size_t kMaxRecycledTasks = 1 << 14;
/// Number of queued tasks searched first for a task's children, most of which are near the front.
inline constexpr std::size_t kNearFront = 64;
/// Maximum number of shorter borrowed tasks that a longer one overtakes in the queue. Without this
/// limit, queueing n tasks could take n² steps.
inline constexpr int kMaxPassed = 64;

// --- Learning -----------------------------------------------------------------------------------

/// Distance (as a factor of latency) to a memory domain of this node that is missing in the
/// Machine.
inline constexpr double kUnknownDomainDistance = 1.5;

// --- Lending ------------------------------------------------------------------------------------

/// Maximum number of tasks, and of data bytes, in one message: the borrower starts while the lender
/// packs the next.
inline constexpr std::uint32_t kMaxTasksPerMessage = 256;
inline constexpr double kMessageBytes = 1 << 19;
/// Seconds between two rounds of copying tasks ahead of time.
inline constexpr double kReplicationInterval_s = 20e-6;
/// Maximum number of entries of the load table read for a decision.
inline constexpr std::size_t kMaxTableReads = 64;

// --- Results ------------------------------------------------------------------------------------

/// Maximum number of bytes of results kept in place for owners on this node to read until the wait
/// ends.
inline constexpr double kMaxKeptBytes = 1 << 28;

// --- Transport ----------------------------------------------------------------------------------

/// Maximum number of headers received in one poll.
inline constexpr std::size_t kMaxHeadersPerPoll = 16;
/// After this many seconds without a poll, MPI is probed twice. The first probe of some MPI
/// libraries reports only messages that they have already read; only the second one reads the
/// network.
inline constexpr double kStalePoll_s = 20e-6;
/// Maximum number of bytes of a header, because MPI counts in int.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 30;
/// From this many freed bytes on, memory is returned to the operating system.
inline constexpr std::size_t kReturnToSystemBytes = std::size_t{64} << 20;
/// Number of tokens for replicated tasks allocated at once (4 KiB).
inline constexpr std::size_t kTokensAtOnce = 512;
/// How a thread without work waits: it spins until the first of these times (in seconds since it
/// became idle), then yields until the second. After that it sleeps again and again, each time for
/// kSleep_s.
inline constexpr double kSpin_s = 50e-6, kYield_s = 1e-3, kSleep_s = 50e-6;
static_assert(kSpin_s < kYield_s);
/// Seconds for which a thread spins for a mutex; after that the owner has probably lost its core.
inline constexpr double kMutexSpin_s = 0.5e-6;

// --- Output -------------------------------------------------------------------------------------

/// Maximum number of ranks in a summary.
inline constexpr std::size_t kMaxSummaryLines = 32;
/// A trace shows idle times of at least this many seconds.
inline constexpr double kMinIdle_s = 10e-6;
/// Maximum number of events of each kind per rank in a trace: 8 to 16 MB.
inline constexpr std::size_t kMaxEvents = 200'000;

}  // namespace poise::tasks::tuning
