// Every tuned number of the tasks runtime that is not a setting: value, unit, and why.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::tasks::tuning {

// --- Running tasks and polling ------------------------------------------------------------------

/// When a busy thread polls although its doorbell has not rung.
struct PollBudget {
  double max_share;       // of its time, for polls that find nothing
  double max_work_share;  // of the queued work, between two polls: towards the end polls matter
};
/// Where every other rank rings the doorbell, a poll seldom finds anything else.
inline constexpr PollBudget kPollBudgetWithDoorbell{0.001, 0.5};
/// Where some rank is on another node, only polls find its messages.
inline constexpr PollBudget kPollBudgetWithoutDoorbell{0.005, 0.1};
/// Seconds after which the caches hold nothing of the last poll; a poll's cost is learnt from such.
inline constexpr double kColdPoll_s = 100e-6;
/// Weight of a new sample in the average cost of a poll.
inline constexpr double kPollCostWeight = 0.125;
/// Seconds of tasks in a batch, which is timed by two readings of the clock (50 ns each).
inline constexpr double kBatch_s = 320e-6;
/// Share of the queued tasks in a batch: towards the end others need what is left.
inline constexpr double kBatchShare = 0.1;
/// Tasks in a batch: enough to make the cost of the clock small.
inline constexpr std::size_t kMaxBatch = 16;
/// Tasks that wait for their children inside one another on one thread, as each keeps its stack.
inline constexpr unsigned kMaxNestedWaits = 32;
/// Finished tasks whose memory a pool keeps for the next ones: 3 MiB.
inline constexpr std::size_t kMaxRecycledTasks = 1 << 14;
/// Queued tasks searched first for a task's children, which are mostly near the front.
inline constexpr std::size_t kNearFront = 64;
/// Shorter borrowed tasks that a longer one may pass: else n tasks would take n² steps.
inline constexpr int kMaxPassed = 64;

// --- Learning -----------------------------------------------------------------------------------

/// A sample counts as this many times the average at most: what is above was a disturbance.
inline constexpr double kOutlier = 4;
/// Seconds of work that the time of a function is averaged over. Less would let one preempted task
/// change it.
inline constexpr double kTaskTimeMemory_s = 20e-3;
/// Weight of a single task in that average, so it covers eight tasks or more.
inline constexpr double kMaxTaskTimeWeight = 0.125;
/// Weight of a sample in a rank's relative slowness, and the range of believable values.
inline constexpr double kSlownessWeight = 1.0 / 16, kMinSlowness = 0.05, kMaxSlowness = 20;
static_assert(kMinSlowness < 1 && 1 < kMaxSlowness);
/// A robust minimum moves by this share towards a smaller value, and by that towards a larger one.
inline constexpr double kMinFollowsDown = 1.0 / 4, kMinFollowsUp = 1.0 / 32;
static_assert(kMinFollowsUp < kMinFollowsDown);
/// The same for the overhead per task, which is no minimum but is disturbed upwards only.
inline constexpr double kOverheadFollowsDown = 1.0 / 4, kOverheadFollowsUp = 1.0 / 8;
static_assert(kOverheadFollowsUp < kOverheadFollowsDown);
/// Bytes per task from which on a loan teaches the overhead per byte, and below it per task.
inline constexpr double kManyBytesPerTask = 4096;
/// Tasks in a loan from which on it counts in full: in smaller ones the message is most of the
/// cost.
inline constexpr double kTasksForFullWeight = 8;
/// Initial overhead in seconds, lower than on most machines: what is not tried is not learnt.
inline constexpr double kInitialOverheadPerTask_s = 0.1e-6, kInitialOverheadPerByte_s = 0.1e-9;
/// Initial latency in seconds, and seconds per byte (10 GB/s), of a link.
inline constexpr double kInitialLatency_s = 10e-6, kInitialLinkPerByte_s = 1e-10;
/// Distance to a domain of the own node that the Machine does not know.
inline constexpr double kUnknownDomainDistance = 1.5;

// --- Lending ------------------------------------------------------------------------------------

/// Seconds between two decisions without a steal request, and the least multiple of what one takes.
inline constexpr double kDecisionInterval_s = 20e-6, kDecisionCostFactor = 20;
/// Where lending does not seem to pay: seconds between two loans that find out whether that still
/// holds, and the share of the time that they may cost.
inline constexpr double kExplorationInterval_s = 1e-3, kExplorationShare = 0.01;
/// Queued tasks up to which tasks of different cost are chosen one by one.
inline constexpr std::size_t kMaxTasksBySize = 1024;
/// Large tasks that may wait per thread of a borrower, beyond a batch of bytes.
inline constexpr double kMaxWaitingPerThread = 4;
/// Tasks, and bytes of data, in one message: the borrower starts while the lender packs the next.
inline constexpr std::uint32_t kMaxTasksPerMessage = 256;
inline constexpr double kMessageBytes = 1 << 19;
/// Seconds between two rounds of copying tasks ahead of time.
inline constexpr double kReplicationInterval_s = 20e-6;

// --- Borrowing ----------------------------------------------------------------------------------

/// Seconds between two steal requests that were not answered; doubled from the first to the second.
inline constexpr double kMinStealPause_s = 20e-6, kMaxStealPause_s = 1e-3;
static_assert(kMinStealPause_s < kMaxStealPause_s);
/// Least pause between two steal requests, in latencies inside the node.
inline constexpr double kStealPauseLatencies = 4;
/// Seconds after which a victim that has tasks and does not answer has its progress thread woken.
inline constexpr double kWakeVictimAfter_s = 0.3e-3;
/// Unanswered steal requests that are remembered.
inline constexpr std::size_t kMaxUnanswered = 8;
/// Random ranks among which the nearest becomes the victim where no rank is known to have tasks.
inline constexpr int kRandomVictims = 4;
/// Share of the most work per thread from which on a nearer victim is as good.
inline constexpr double kSimilarWork = 0.5;

// --- Loads of other ranks -----------------------------------------------------------------------

/// Loads of other ranks that every message carries, and seconds between two messages sent for them.
inline constexpr std::size_t kLoadsPerMessage = 3;
inline constexpr double kGossipInterval_s = 200e-6;
/// Recently updated loads that are worth passing on.
inline constexpr std::size_t kMaxRecentLoads = 8;
static_assert(kLoadsPerMessage < kMaxRecentLoads);

// --- Results ------------------------------------------------------------------------------------

/// Seconds that results wait for others to share a message, unless the rank is idle.
inline constexpr double kMaxResultDelay_s = 100e-6;
/// Bytes of results that stay where they are, for owners of this node to read until the wait ends.
inline constexpr double kMaxKeptBytes = 1 << 28;

// --- Progress thread ----------------------------------------------------------------------------

/// Share of the queued work between two polls of the progress thread.
inline constexpr double kProgressShare = 0.2;
/// Seconds that it sleeps; the second where the last time all threads had polled themselves.
inline constexpr double kMaxProgressSleep_s = 10e-3, kMaxUnneededSleep_s = 40e-3;
static_assert(kMaxProgressSleep_s <= kMaxUnneededSleep_s);
/// Seconds that it ignores wake-ups after one that led to no loan; doubled from the first to the
/// second, as idle ranks would otherwise keep a busy one from work.
inline constexpr double kMinWakeBackoff_s = 0.5e-3, kMaxWakeBackoff_s = 8e-3;
static_assert(kMinWakeBackoff_s < kMaxWakeBackoff_s);

// --- Transport ----------------------------------------------------------------------------------

/// Headers received in one poll.
inline constexpr std::size_t kMaxHeadersPerPoll = 16;
/// Seconds without a poll after which MPI is asked twice: some libraries first report what they
/// have, and only then look at what has come.
inline constexpr double kStalePoll_s = 20e-6;
/// Bytes of a header, as MPI counts in int.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 30;
/// Freed bytes from which on the memory goes back to the system.
inline constexpr std::size_t kReturnToSystemBytes = std::size_t{64} << 20;
/// Tokens of replicated tasks allocated at once: 4 KiB.
inline constexpr std::size_t kTokensAtOnce = 512;
/// Seconds that an idle thread spins, then yields, before it sleeps for the third at a time.
inline constexpr double kSpin_s = 50e-6, kYield_s = 1e-3, kSleep_s = 50e-6;
static_assert(kSpin_s < kYield_s);
/// Seconds that a thread spins for a mutex; after that the owner has lost its core.
inline constexpr double kMutexSpin_s = 0.5e-6;

// --- Output -------------------------------------------------------------------------------------

/// Lines of ranks in a summary.
inline constexpr std::size_t kMaxSummaryLines = 32;
/// Seconds of idleness from which on a trace shows it.
inline constexpr double kMinIdle_s = 10e-6;
/// Events of each kind per rank in a trace: 8 to 16 MB.
inline constexpr std::size_t kMaxEvents = 200'000;

}  // namespace poise::tasks::tuning
