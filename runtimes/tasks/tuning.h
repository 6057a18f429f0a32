// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the tasks runtime that is not a setting: its value, unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::tasks::tuning {

// --- Numbers for running tasks and polling ------------------------------------------------------

/// After this many seconds without a poll, the caches are assumed to hold nothing that a poll
/// needs. The cost of a poll is measured only at polls after such a pause.
inline constexpr double kColdPoll_s = 100e-6;
/// Maximum number of tasks that wait for their children on the stack of one thread. While a task
/// waits, its thread runs other tasks, which may wait in turn.
inline constexpr unsigned kMaxNestedWaits = 32;
/// Maximum number of finished tasks whose memory a pool keeps for new ones (3 MiB).
inline constexpr std::size_t kMaxRecycledTasks = 1 << 14;
/// To find a queued child of a task, this many tasks at the front of each queue are searched first,
/// because most children are there.
inline constexpr std::size_t kNearFront = 64;
/// Maximum number of shorter borrowed tasks that a longer one overtakes in the queue. Without this
/// limit, queueing n tasks could take n² steps.
inline constexpr int kMaxPassed = 64;

// --- Learning -----------------------------------------------------------------------------------

/// Distance that is assumed between two memory domains of a node if the description of the machine
/// lacks one of these domains. A distance is the latency between domains, relative to the latency
/// inside a domain.
inline constexpr double kUnknownDomainDistance = 1.5;

// --- Lending ------------------------------------------------------------------------------------

/// Minimum number of seconds between two rounds in which a rank sends replicas of its tasks to
/// other ranks.
inline constexpr double kReplicationInterval_s = 20e-6;
/// Maximum number of ranks whose loads a rank reads from the load table before it decides. If there
/// are more ranks, it reads the others before its next decisions.
inline constexpr std::size_t kMaxTableReads = 64;

// --- Results ------------------------------------------------------------------------------------

/// Maximum number of bytes of results that a borrower keeps in shared memory instead of sending
/// them. Ranks of the same node that own these results read them there. The memory is freed when
/// the wait ends.
inline constexpr double kMaxKeptBytes = 1 << 28;

// --- Transport ----------------------------------------------------------------------------------

/// Maximum number of headers received in one poll.
inline constexpr std::size_t kMaxHeadersPerPoll = 16;
/// After this many seconds without a poll, MPI is probed twice. The first probe of some MPI
/// libraries reports only messages that they have already read; only the second one reads the
/// network.
inline constexpr double kStalePoll_s = 20e-6;
/// Maximum number of bytes of a header. An MPI message cannot be much longer, because MPI counts
/// its bytes in an int.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 30;
/// From this many freed bytes on, memory is returned to the operating system.
inline constexpr std::size_t kReturnToSystemBytes = std::size_t{64} << 20;
/// Number of tokens (pool/token.h) that are allocated at once, in 4 KiB. Each replicated task has
/// one token: the rank that takes it first runs the task.
inline constexpr std::size_t kTokensAtOnce = 512;
/// How a thread without work waits: it spins until the first of these times (in seconds since it
/// became idle), then yields until the second. After that it sleeps again and again.
inline constexpr double kSpin_s = 50e-6, kYield_s = 1e-3;
/// The shortest and the longest of these sleeps in seconds, and their length as a fraction of the
/// time for which the thread has been idle. A message that rings no doorbell is found late by at
/// most one sleep. Waking up and polling takes 30 us, so with the longest sleep a thread uses 0.6 %
/// of a core.
inline constexpr double kMinSleep_s = 50e-6, kMaxSleep_s = 5e-3, kSleepShare = 0.01;
static_assert(kMinSleep_s < kMaxSleep_s);
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
