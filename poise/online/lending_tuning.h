// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the decisions about lending, polling and learning: its value, unit and
// reason. Those of running tasks and of the transport are in runtimes/tasks/tuning.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::lending_tuning {

// --- Running tasks and polling ------------------------------------------------------------------

/// When a busy thread polls although no rank has rung its doorbell.
struct PollBudget {
  double max_share;  // maximal share of busy time for polls that find nothing
  // Poll again after this share of the queued work: towards the end polls matter more.
  double max_work_share;
};
/// Where every other rank rings the doorbell, a poll rarely finds anything more.
inline constexpr PollBudget kPollBudgetWithDoorbell{0.001, 0.5};
/// Where some rank is on another node, only polls find its messages.
inline constexpr PollBudget kPollBudgetWithoutDoorbell{0.005, 0.1};
/// Weight of a new sample in the average cost of a poll.
inline constexpr double kPollCostWeight = 0.125;
/// Maximal seconds of tasks in a batch, which is timed by two clock readings of 50 ns each.
inline constexpr double kBatch_s = 320e-6;
/// Maximal share of the queued tasks in a batch, so that other threads find tasks towards the end.
inline constexpr double kBatchShare = 0.1;
/// Maximal number of tasks in a batch: enough to make the cost of the clock small.
inline constexpr std::size_t kMaxBatch = 16;

// --- Learning -----------------------------------------------------------------------------------

/// A sample counts as at most this multiple of the average; the rest is taken for a disturbance.
inline constexpr double kOutlier = 4;
/// Seconds of work over which a function's time is averaged. With less, one preempted task would
/// change it.
inline constexpr double kTaskTimeMemory_s = 20e-3;
/// Maximal weight of a single task in that average, so that it covers at least eight tasks.
inline constexpr double kMaxTaskTimeWeight = 0.125;
/// Weight of a new sample in a rank's relative slowness, and the range of plausible values.
inline constexpr double kSlownessWeight = 1.0 / 16, kMinSlowness = 0.05, kMaxSlowness = 20;
static_assert(kMinSlowness < 1 && 1 < kMaxSlowness);
/// A robust minimum moves by the first share towards a smaller sample, and by the second towards a
/// larger one.
inline constexpr double kMinFollowsDown = 1.0 / 4, kMinFollowsUp = 1.0 / 32;
static_assert(kMinFollowsUp < kMinFollowsDown);
/// The same two shares for the overhead per task, which is an average but is disturbed upwards
/// only.
inline constexpr double kOverheadFollowsDown = 1.0 / 4, kOverheadFollowsUp = 1.0 / 8;
static_assert(kOverheadFollowsUp < kOverheadFollowsDown);
/// A loan of at least this many bytes per task teaches the overhead per byte, a smaller one the
/// overhead per task.
inline constexpr double kManyBytesPerTask = 4096;
/// A loan of at least this many tasks counts in full; in a smaller one the message is most of the
/// cost.
inline constexpr double kTasksForFullWeight = 8;
/// Initial overhead in seconds. It is lower than on most machines, so that lending is tried and its
/// true cost learnt.
inline constexpr double kInitialOverheadPerTask_s = 0.1e-6, kInitialOverheadPerByte_s = 0.1e-9;
/// Initial latency of a link in seconds, and its initial seconds per byte (10 GB/s).
inline constexpr double kInitialLatency_s = 10e-6, kInitialLinkPerByte_s = 1e-10;
/// Maximal number of groups of ranks whose links are learnt apart (about 4 KiB).
inline constexpr std::size_t kMaxLinks = 64;
/// From this multiple of its average time on, a running task is expected to run for as long again.
inline constexpr double kLongTask = 2;

// --- Lending ------------------------------------------------------------------------------------

/// Seconds between two decisions without a steal request, and the minimal ratio of that interval to
/// the time of a decision.
inline constexpr double kDecisionInterval_s = 20e-6, kDecisionCostFactor = 20;
/// Where lending does not seem to pay: seconds between two loans that test whether that still
/// holds, and the maximal share of time that such loans may cost.
inline constexpr double kExplorationInterval_s = 1e-3, kExplorationShare = 0.01;
/// Maximal number of unanswered steal requests that a victim remembers; it declines further ones.
inline constexpr std::size_t kMaxPending = 64;
/// Number of ranks without a request, the nearest idle ones, that a decision considers.
inline constexpr std::size_t kMaxIdle = 8;
/// Minimal time between two decisions for steal requests, as a multiple of the time of a decision.
inline constexpr double kAskedCostFactor = 2;
/// Up to this many queued tasks, tasks of different cost are chosen one by one.
inline constexpr std::size_t kMaxTasksBySize = 1024;
/// Number of large tasks that may wait per thread of a borrower, even beyond `batch_bytes`.
inline constexpr double kMaxWaitingPerThread = 4;

// --- Borrowing ----------------------------------------------------------------------------------

/// Seconds between two unanswered steal requests; the pause doubles from the first value to the
/// second.
inline constexpr double kMinStealPause_s = 20e-6, kMaxStealPause_s = 1e-3;
static_assert(kMinStealPause_s < kMaxStealPause_s);
/// Minimal pause between two steal requests, as a multiple of the latency inside the node.
inline constexpr double kStealPauseLatencies = 4;
/// Seconds after which a thief wakes the progress thread of a victim that has tasks but does not
/// answer.
inline constexpr double kWakeVictimAfter_s = 0.3e-3;
/// Number of declined requests to random victims after which an idle rank asks only its partners,
/// which remember it, and ranks known to have tasks.
inline constexpr std::uint32_t kRandomTries = 4;
/// Maximal number of unanswered steal requests that a rank remembers.
inline constexpr std::size_t kMaxUnanswered = 8;
/// Number of random ranks of which the nearest becomes the victim if no rank is known to have
/// tasks.
inline constexpr int kRandomVictims = 4;
/// A near victim is as good as a far one if it has at least this share of the most work per thread.
inline constexpr double kSimilarWork = 0.5;

// --- Loads of other ranks -----------------------------------------------------------------------

/// Number of other ranks' loads in every message, and seconds between two messages sent only for
/// loads.
inline constexpr std::size_t kLoadsPerMessage = 3;
inline constexpr double kGossipInterval_s = 200e-6;
/// Maximal number of ranks that a rank remembers (16 KiB), and the minimal number of free places in
/// its index for each.
inline constexpr std::size_t kMaxPeers = 256, kIndexPerPeer = 2;
/// Maximal number of recently updated loads that a rank passes on.
inline constexpr std::size_t kMaxRecentLoads = 8;
static_assert(kLoadsPerMessage < kMaxRecentLoads);

// --- Results ------------------------------------------------------------------------------------

/// Maximal seconds for which results wait to share a message; results of an idle rank do not wait.
inline constexpr double kMaxResultDelay_s = 100e-6;

// --- Progress thread ----------------------------------------------------------------------------

/// The progress thread polls again after this share of the queued work.
inline constexpr double kProgressShare = 0.2;
/// Maximal seconds for which the progress thread sleeps; the second if all threads polled
/// themselves the last time.
inline constexpr double kMaxProgressSleep_s = 10e-3, kMaxUnneededSleep_s = 40e-3;
static_assert(kMaxProgressSleep_s <= kMaxUnneededSleep_s);
/// Seconds for which the progress thread ignores wake-ups after one that led to no loan. They
/// double from the first value to the second, or idle ranks would keep a busy one from work.
inline constexpr double kMinWakeBackoff_s = 0.5e-3, kMaxWakeBackoff_s = 8e-3;
static_assert(kMinWakeBackoff_s < kMaxWakeBackoff_s);

}  // namespace poise::lending_tuning
