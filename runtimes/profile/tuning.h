// SPDX-License-Identifier: BSD-3-Clause
// All tuned numbers of the profile, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::profile::tuning {

/// Minimum length of a useful stretch (the time between two MPI calls) for which the CPU clock is
/// read. For shorter ones the read would cost too much: it is a system call of about 0.5 us.
inline constexpr std::int64_t kLongStretch_ns = 100'000;
/// Maximum interval after which the CPU clock is read again at the end of a call. The interval
/// starts at kLongStretch_ns and doubles with each such read, until a long stretch resets it. A
/// longer interval saves reads, but makes the CPU time of the next long stretch less certain: that
/// CPU time is estimated from all the CPU time since the last read.
inline constexpr std::int64_t kMaxReadPause_ns = 4 * kLongStretch_ns;

/// If a rank polls again less than this time after a poll that found nothing, it waits in a loop:
/// the time between the polls does not count as useful. One round of such a loop takes less than
/// 1 us. Programs that poll while they compute do so less often, because a poll costs 0.1 us.
inline constexpr std::int64_t kPollGap_ns = 3'000;
/// A time between two polls from kPollGap_ns to kLongStretch_ns does not count as useful either if
/// the loop has lasted more than kPollGapShare times that time: it is assumed that an interrupt has
/// delayed the poll. At most 1 % of the time in such a loop is then counted wrongly.
inline constexpr std::int64_t kPollGapShare = 100;
/// A rank that waits in a loop of polls may sleep or yield its core between two polls. A long
/// stretch between two polls counts as such a pause, not as useful time, if the rank used less than
/// this CPU time in the stretch. The limit allows for context switches, which took up to 33 us each
/// on a virtual machine. On a busy machine, interrupts take longer. So a stretch with more CPU time
/// also counts as a pause if the CPU time of all such stretches in the loop, times kPollGapShare,
/// is less than the duration of the loop so far.
inline constexpr std::int64_t kPollGapCpu_ns = 50'000;

/// Maximum number of phases that a series (series.h) holds in memory. When there are more,
/// pairs of phases with the same label are merged.
inline constexpr std::size_t kMaxPhases = 1024;
/// If merging leaves more phases than this, because their labels differ, all labels are dropped.
/// Otherwise phases would soon have to be merged again.
inline constexpr std::size_t kMaxLabelled = kMaxPhases / 4 * 3;
/// Initial length of time slices, for programs without phases. It doubles when there are many
/// slices. Even a run of 1 s has four slices, enough to see whether its imbalance lasts or changes.
inline constexpr std::int64_t kSlice_ns = 250'000'000;

/// Iterations are phases only if all of them but the longest together take at least this fraction
/// of the run. For example, a program may call collectives only while it starts: its last iteration
/// then contains nearly the whole run.
inline constexpr double kMinIterated = 0.25;
/// If a run has fewer time slices than this, its iterations are phases in any case.
inline constexpr std::size_t kMinSlices = 4;

/// An iteration is recognised when the same sequence of collectives occurs kRepeats times in a row.
/// If that does not happen within kMaxTokens collectives, the search starts again.
inline constexpr std::size_t kMaxTokens = 4096;
inline constexpr std::size_t kRepeats = 3;
/// A recognised iteration is discarded if more than one in kOddShare of the collectives that follow
/// does not fit its sequence.
inline constexpr std::size_t kOddShare = 8;
/// Phases that are shorter than this on all ranks are merged with their neighbours when the run
/// ends.
inline constexpr std::int64_t kMinPhase_ns = 10'000'000;

/// Maximum number of entry times of collectives kept per communicator. When there are more, every
/// second one is dropped.
inline constexpr std::size_t kMaxSamples = 1 << 17;

/// Maximum number of records of sends, and also of receives, that a rank keeps (48 bytes each).
/// When either number is reached, about half of the records of both are dropped.
inline constexpr std::size_t kMaxEnds = 1 << 17;
/// Maximum number of streams (pair of ranks, communicator, tag) in which a rank numbers messages.
/// Messages in further streams are ignored.
inline constexpr std::size_t kMaxStreams = 1 << 18;
/// Maximum number of receives queued behind a receive from any source (message_ends.h). If there
/// are more, the profile no longer computes how long ranks waited for messages.
inline constexpr std::size_t kMaxQueuedReceives = 256;

/// Maximum number of freed communicators whose samples a rank keeps until the program ends (they
/// take a few MiB), and maximum total number of their samples (which take 32 MiB). Waits in freed
/// communicators beyond these limits are estimated from the kept samples.
inline constexpr std::size_t kMaxFreed = 1 << 14, kMaxFreedSamples = 1 << 20;

/// A rank that has stopped recording messages may spend up to this fraction of the run in calls
/// that wait for them. If it spends more, the diagnosis does not distinguish waiting from transfer.
inline constexpr double kMaxUnrecorded = 0.01;

/// Maximum number of records that a rank keeps of its waits for sampled non-blocking collectives
/// (32 MiB).
inline constexpr std::size_t kMaxCompletions = 1 << 20;

/// Maximum number of samples that a rank compares with other ranks when the program ends. A report
/// has 24 bytes per sample, and must be shorter than 2^31 bytes.
inline constexpr std::size_t kMaxCompared = 1 << 26;

/// Seconds after which a rank stops waiting for other ranks to join the profile. All ranks join at
/// about the same time, because MPI_Init synchronises them.
inline constexpr double kMaxJoin_s = 10;
/// Seconds for which a rank that has joined waits for the votes of all ranks. By then all ranks
/// have joined, but the kernel may have stopped one of them. If the other ranks stopped waiting for
/// the vote of the stopped rank, that rank alone would use the profile, and hang. So this limit is
/// longer than kMaxJoin_s.
inline constexpr double kMaxVote_s = 60;
/// Of the time between two tests of a join request, at most this much counts towards kMaxJoin_s and
/// kMaxVote_s. A longer gap means that this rank had no core: the machine is busy, and the other
/// ranks may have had no core either.
inline constexpr double kMaxCountedPause_s = 10e-3;

/// Tolerance for comparing times of two ranks of one host. Their clocks differ by less than 1 us.
/// The rest of the tolerance allows for calls that return a little late.
inline constexpr std::int64_t kMaxClockError_ns = 10'000;

/// Number of round trips by which two hosts compare their clocks. The fastest one is used.
inline constexpr int kClockRounds = 32;

/// An Allreduce of up to this size is assumed to use recursive doubling, a larger one a ring.
inline constexpr std::uint64_t kLongAllreduce_bytes = 1 << 16;

/// Topologies with more ranks or more edges than these limits are not reordered. A single rank
/// computes the new order. At these limits this takes seconds, and the memory is 100 bytes per rank
/// plus 12 bytes per edge.
inline constexpr int kMaxReorderedRanks = 1 << 16;
inline constexpr std::int64_t kMaxReorderedEdges = 1 << 22;

static_assert(kPollGap_ns < kLongStretch_ns && kPollGapCpu_ns < kLongStretch_ns);
static_assert(kMaxPhases % 2 == 0 && kMaxSamples % 2 == 0, "halves are dropped");

}  // namespace poise::profile::tuning
