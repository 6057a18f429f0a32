// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the decisions about lending, polling and learning, with value, unit and
// reason. The numbers for running tasks and for the transport are in runtimes/tasks/tuning.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::lending_tuning {

// --- Times and fractions that several decisions share -------------------------------------------

/// Shortest and longest pause, in seconds, between two attempts that may fail.
///
/// The shortest pause separates two decisions about loans that no rank has requested, two steal
/// requests of a rank, and two rounds in which a rank sends replicas (copies of tasks). It also has
/// these uses:
/// - A request and its answer are assumed to take this time until one has been measured.
/// - A thread without work spins for this time. Shorter idle times are left out of traces.
/// - If the last poll was longer ago than this, MPI is probed twice, because the first probe of
///   some MPI libraries reports only messages that they have already read.
///
/// The pause between two steal requests doubles with every request, up to the longest pause. The
/// longest pause also separates two exploratory loans, and two polls of a busy rank if all other
/// ranks can ring its doorbell (announce messages in shared memory). A thread that has had no work
/// for longer sleeps instead of yielding.
inline constexpr double kMinPause_s = 20e-6, kMaxPause_s = 1e-3;
static_assert(kMinPause_s < kMaxPause_s);
/// The delay in seconds of messages that are not urgent, and similar times:
/// - Results wait for this time for other results that can share their message.
/// - A rank waits for this time between two messages that only report loads.
/// - Messages wait for at most this time until a batch of tasks ends.
/// - A thief wakes the progress thread of a victim that has tasks but is silent for this time.
/// - A progress thread ignores wake-ups for this time after one that led to no loan, and for twice
///   as long after each further one, up to kMaxSleep_s. Otherwise idle ranks could keep a busy rank
///   from working.
/// - Before a rank starts a task of unknown time, it spends up to this time on lending other tasks,
///   because the task may be long and messages wait meanwhile. If all tasks turn out to be short,
///   the lent ones return, and little time was wasted.
/// - The cost of a poll is measured only if the last poll was more than this time ago, because then
///   the caches hold nothing that a poll needs.
inline constexpr double kNewsDelay_s = 200e-6;
/// Longest sleep in seconds of a thread without work and of a progress thread. Waking up and
/// polling takes 30 us, so these threads use 0.3 % of a core.
inline constexpr double kMaxSleep_s = 10e-3;
static_assert(kNewsDelay_s < kMaxSleep_s);
/// Fraction of time that may be wasted. It limits the cost of exploratory loans, the time for polls
/// of a busy rank, and each sleep of an idle thread, as a fraction of its idle time so far.
inline constexpr double kWastedShare = 0.01;
/// Each time a rank has done this fraction of its remaining queued work, it ends a batch of tasks
/// (taken from the queue together) and wakes its progress thread. It also polls, unless all other
/// ranks can ring its doorbell (announce messages in shared memory). So a rank does these things
/// more often towards the end of its work, where a delay matters more.
inline constexpr double kWorkShare = 0.1;

// --- Counts -------------------------------------------------------------------------------------

/// Maximum number of tasks in a batch, of headers received in one poll, and of children of a node
/// of the termination tree. After this number of answers, a rank declines no further steal request
/// until the next poll. With 16 tasks per batch, reading the clock costs little. A rank can receive
/// the messages of all its children in one poll. The tree has at most 5 levels below its root for
/// up to 65,536 ranks.
inline constexpr std::size_t kMaxAtOnce = 16;
/// Maximum number of entries that a rank searches linearly:
/// - unanswered steal requests that a victim or a thief remembers (a victim declines further ones);
/// - loads read from the load table before a decision (the next decision reads other loads);
/// - tasks at the front of a queue, which are searched first for a child of a given task;
/// - shorter borrowed tasks that a longer one overtakes in the queue;
/// - groups of ranks whose links are learnt separately.
inline constexpr std::size_t kMaxSearched = 64;
/// Number of ranks among which a rank chooses. A decision about loans considers this number of
/// ranks that sent no request: those that will be idle soonest. A rank also lists this number of
/// ranks whose loads it heard last; it reports some of them, and a thief picks its victim among
/// them.
inline constexpr std::size_t kMaxCandidates = 8;
/// Maximum number of ranks whose loads a message reports in addition to the load of its sender.
inline constexpr std::size_t kLoadsPerMessage = 3;
static_assert(kLoadsPerMessage < kMaxCandidates);
/// If no rank is known to have tasks, this number of random ranks is drawn, and the nearest becomes
/// the victim. After this number of declined requests, an idle rank sends requests only to ranks
/// known to have tasks and to its partners, which remember the requests.
inline constexpr std::uint32_t kRandomTries = 4;
/// Maximum number of ranks that a rank remembers. They take 16 KiB.
inline constexpr std::size_t kMaxPeers = 256;

// --- Learning -----------------------------------------------------------------------------------

/// A sample counts as at most this multiple of the average, because a larger one is probably a
/// disturbance.
inline constexpr double kOutlier = 4;
/// Seconds of work over which a function's time, or a rank's slowness, is averaged. Over less work,
/// a single preempted task would change the average too much.
inline constexpr double kTaskTimeMemory_s = 20e-3;
/// Maximum weight of a new sample in an average, so that the average covers at least eight samples.
/// Exploratory loans have eight tasks, too, because the cost of smaller loans is mostly that of the
/// message.
inline constexpr double kMaxWeight = 0.125;
static_assert(kOutlier * kMaxWeight < 1);
/// Initial overhead in seconds per task, and initial seconds per byte (10 GB/s) of overheads and
/// links. The overheads are lower than on most machines, so that lending is tried and its true cost
/// is learnt. If the bytes of a task cost more than kInitialOverhead_s with these initial values,
/// the task's measured time updates the overhead per byte, otherwise the overhead per task.
inline constexpr double kInitialOverhead_s = 0.1e-6, kInitialPerByte_s = 0.1e-9;
/// Times, or amounts of work, count as similar if they differ by at most this factor. If a task has
/// run for more than this multiple of its average time, its remaining run time is assumed to equal
/// the time for which it has run so far.
inline constexpr double kSimilar = 2;

// --- Lending ------------------------------------------------------------------------------------

/// Minimum time between two decisions while no rank has sent a steal request, as a multiple of the
/// duration of a decision. So these decisions take 5 % of the time at most.
inline constexpr double kDecisionCostFactor = 20;
/// If at most this many tasks are queued and their costs differ, the tasks to lend are chosen
/// individually.
inline constexpr std::size_t kMaxTasksBySize = 1024;
/// Number of large tasks that may wait per thread of a borrower, even if their data exceed
/// `batch_bytes`.
inline constexpr double kMaxWaitingPerThread = 4;
/// Maximum number of tasks and maximum number of data bytes in one message. A large loan is sent in
/// several messages, so that the borrower starts to run tasks while the lender packs others.
inline constexpr std::uint32_t kMaxTasksPerMessage = 256;
inline constexpr double kMessageBytes = 1 << 19;

}  // namespace poise::lending_tuning
