// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the decisions about lending, polling and learning, with value, unit and
// reason. The numbers for running tasks and for the transport are in runtimes/tasks/tuning.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::lending_tuning {

// --- Numbers for running tasks and polling ------------------------------------------------------

/// Limits on how often a busy thread polls although no rank has rung its doorbell.
struct PollBudget {
  double max_share;  // maximum fraction of busy time for polls that find nothing
  // The next poll is due after this fraction of the queued work. So polls become more frequent
  // towards the end, where they matter more.
  double max_work_share;
};
/// The limits on polling if every other rank can ring the doorbell: a poll without a ring then
/// rarely finds a message.
inline constexpr PollBudget kPollBudgetWithDoorbell{0.001, 0.5};
/// The limits on polling if some rank is on another node. Such a rank cannot ring the doorbell, so
/// only polls find its messages.
inline constexpr PollBudget kPollBudgetWithoutDoorbell{0.005, 0.1};
/// Weight of a new sample in the average cost of a poll.
inline constexpr double kPollCostWeight = 0.125;
/// Maximum duration of a batch of tasks in seconds. A batch is timed by two clock readings of 50 ns
/// each.
inline constexpr double kBatch_s = 320e-6;
/// Maximum fraction of the queued tasks in a batch, so that other threads find tasks towards the
/// end.
inline constexpr double kBatchShare = 0.1;
/// Maximum number of tasks in a batch. It is large enough to make the cost of reading the clock
/// small.
inline constexpr std::size_t kMaxBatch = 16;

// --- Learning -----------------------------------------------------------------------------------

/// A sample counts as at most this multiple of the average, because a larger one is probably a
/// disturbance.
inline constexpr double kOutlier = 4;
/// Seconds of work over which a function's time, or a rank's slowness, is averaged. With less, one
/// preempted task would change the average.
inline constexpr double kTaskTimeMemory_s = 20e-3;
/// Maximum weight of a single task in the average time of its function, so that the average covers
/// at least eight tasks.
inline constexpr double kMaxTaskTimeWeight = 0.125;
/// The slowness of a rank is the run times of its tasks divided by the run times of the same tasks
/// on this rank, as a moving average. The first number is the maximum weight of a single task in
/// this average; the others are the smallest and the largest slowness that are plausible.
inline constexpr double kSlownessWeight = 1.0 / 16, kMinSlowness = 0.05, kMaxSlowness = 20;
static_assert(kMinSlowness < 1 && 1 < kMaxSlowness);
/// Weights of a new sample in a robust minimum, an estimate that follows small samples fast and
/// large ones slowly: the first for samples below the estimate, the second for other samples.
inline constexpr double kMinFollowsDown = 1.0 / 4, kMinFollowsUp = 1.0 / 32;
static_assert(kMinFollowsUp < kMinFollowsDown);
/// The fractions of the difference by which the overhead per task moves towards a smaller sample
/// and towards a larger one. Disturbances can only increase samples, so smaller ones count more.
inline constexpr double kOverheadFollowsDown = 1.0 / 4, kOverheadFollowsUp = 1.0 / 8;
static_assert(kOverheadFollowsUp < kOverheadFollowsDown);
/// A loan with at least this many bytes per task updates the overhead per byte; other loans update
/// the overhead per task.
inline constexpr double kManyBytesPerTask = 4096;
/// A loan of at least this many tasks has full weight. In a smaller loan, the message is most of
/// the cost.
inline constexpr double kTasksForFullWeight = 8;
/// Initial overheads in seconds per task and per byte. They are lower than on most machines, so
/// that lending is tried and its true cost is learnt.
inline constexpr double kInitialOverheadPerTask_s = 0.1e-6, kInitialOverheadPerByte_s = 0.1e-9;
/// Initial latency of a link in seconds, and its initial seconds per byte (10 GB/s).
inline constexpr double kInitialLatency_s = 10e-6, kInitialLinkPerByte_s = 1e-10;
/// Maximum number of groups of ranks whose links are learnt separately. All links together need
/// about 4 KiB.
inline constexpr std::size_t kMaxLinks = 64;
/// A task that has run for this multiple of its average time is expected to run for as long again.
inline constexpr double kLongTask = 2;

// --- Lending ------------------------------------------------------------------------------------

/// Minimum time between two decisions while no rank has sent a steal request: the first value, in
/// seconds, or the second value times the duration of a decision, whichever is longer.
inline constexpr double kDecisionInterval_s = 20e-6, kDecisionCostFactor = 20;
/// If lending does not seem to pay, exploratory loans measure its cost again from time to time. The
/// numbers are the seconds between two such loans, and the maximum fraction of time that they may
/// cost.
inline constexpr double kExplorationInterval_s = 1e-3, kExplorationShare = 0.01;
/// Seconds for which a rank lends tasks of unknown time before it starts one of them, which may be
/// long. If all are short, they return, and lending was wasted for at most about this time.
inline constexpr double kUnknownTimeLoan_s = 200e-6;
/// Maximum number of unanswered steal requests that a victim remembers. It declines further ones.
inline constexpr std::size_t kMaxPending = 64;
/// Of the ranks that have not sent a steal request, a decision considers at most this number: those
/// that will be idle soonest.
inline constexpr std::size_t kMaxIdle = 8;
/// Minimum time between two decisions that answer steal requests, as a multiple of the duration of
/// a decision.
inline constexpr double kAskedCostFactor = 2;
/// If at most this many tasks are queued and their costs differ, the tasks to lend are chosen one
/// by one.
inline constexpr std::size_t kMaxTasksBySize = 1024;
/// Number of large tasks that may wait per thread of a borrower, even if their data exceed
/// `batch_bytes`.
inline constexpr double kMaxWaitingPerThread = 4;

/// Maximum number of tasks and maximum number of data bytes in one message. A large loan is sent in
/// several messages, so that the borrower starts to run tasks while the lender packs others.
inline constexpr std::uint32_t kMaxTasksPerMessage = 256;
inline constexpr double kMessageBytes = 1 << 19;
/// Number of tasks in an exploratory loan, which only measures the cost of lending.
inline constexpr std::uint32_t kExploredTasks = 4;

// --- Borrowing ----------------------------------------------------------------------------------

/// Shortest and longest pause in seconds between two steal requests of a rank. The pause begins
/// with the shortest value and doubles with every request, up to the longest, until tasks arrive.
inline constexpr double kMinStealPause_s = 20e-6, kMaxStealPause_s = 1e-3;
static_assert(kMinStealPause_s < kMaxStealPause_s);
/// Maximum number of declined requests that are counted per victim. Further ones would not make the
/// pause longer.
inline constexpr std::uint8_t kMaxDeclines = 16;
/// Minimum pause between two steal requests, as a multiple of the latency inside the node.
inline constexpr double kStealPauseLatencies = 4;
/// Seconds after which a thief wakes the progress thread of a victim that has tasks but does not
/// answer.
inline constexpr double kWakeVictimAfter_s = 0.3e-3;
/// Number of declined requests to random victims after which an idle rank sends requests only to
/// its partners, which remember it, and to ranks known to have tasks.
inline constexpr std::uint32_t kRandomTries = 4;
/// Maximum number of unanswered steal requests that a thief remembers.
inline constexpr std::size_t kMaxUnanswered = 8;
/// If no rank is known to have tasks, this number of random ranks is drawn, and the nearest becomes
/// the victim.
inline constexpr int kRandomVictims = 4;
/// Of the ranks known to have tasks, a thief chooses the nearest whose work per thread is at least
/// this fraction of the largest work per thread.
inline constexpr double kSimilarWork = 0.5;

// --- Loads of other ranks -----------------------------------------------------------------------

/// The first number is the maximum number of other ranks whose loads a message also reports. The
/// second is the minimum time in seconds between two messages that a rank sends only to report
/// loads.
inline constexpr std::size_t kLoadsPerMessage = 3;
inline constexpr double kGossipInterval_s = 200e-6;
/// Maximum number of ranks that a rank remembers. They take 16 KiB.
inline constexpr std::size_t kMaxPeers = 256;
/// Maximum number of recently updated loads among which a rank chooses those that it passes on.
inline constexpr std::size_t kMaxRecentLoads = 8;
static_assert(kLoadsPerMessage < kMaxRecentLoads);

// --- Termination --------------------------------------------------------------------------------

/// Number of children of a node of the termination tree. The tree has fewer than 5 levels up to
/// 65,536 ranks, and no rank handles more than this many messages of a wave.
inline constexpr std::size_t kTerminationFanOut = 16;

// --- Results ------------------------------------------------------------------------------------

/// Maximum time in seconds for which results wait to share a message. Results of an idle rank do
/// not wait.
inline constexpr double kMaxResultDelay_s = 100e-6;

// --- Progress thread ----------------------------------------------------------------------------

/// The progress thread polls again after this fraction of the time that the queued work takes.
inline constexpr double kProgressShare = 0.2;
/// Maximum time in seconds for which the progress thread sleeps. The second value applies if other
/// threads polled during its last sleep.
inline constexpr double kMaxProgressSleep_s = 10e-3, kMaxUnneededSleep_s = 40e-3;
static_assert(kMaxProgressSleep_s <= kMaxUnneededSleep_s);
/// Seconds for which the progress thread ignores wake-ups after a wake-up that led to no loan. This
/// time starts at the first value and doubles after each such wake-up, up to the second value. If
/// no wake-ups were ignored, idle ranks could keep a busy rank from working.
inline constexpr double kMinWakeBackoff_s = 0.5e-3, kMaxWakeBackoff_s = 8e-3;
static_assert(kMinWakeBackoff_s < kMaxWakeBackoff_s);

}  // namespace poise::lending_tuning
