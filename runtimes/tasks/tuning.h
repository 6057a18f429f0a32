// SPDX-License-Identifier: BSD-3-Clause
// The tuned numbers that only the tasks runtime needs and that users cannot set, with value, unit
// and reason. The other numbers are in poise/online/lending_tuning.h.
#pragma once

#include <cstddef>

namespace poise::tasks::tuning {

/// Maximum number of tasks that wait for their children on the stack of one thread. While a task
/// waits, its thread runs other tasks, which may wait in turn.
inline constexpr unsigned kMaxNestedWaits = 32;
/// Maximum number of tasks nested on the stack of one thread by yields: a task that yields runs the
/// next task on the same stack. A larger number lets more tasks yield, but leaves less stack to
/// each. With this number, a stack of 8 MiB has 8 KiB for each task.
inline constexpr unsigned kMaxNestedYields = 1000;
/// If less than this share of a thread's stack is free, a task that is nested in other tasks on
/// this stack fails instead of running. With a stack of 8 MiB, 512 KiB remain for the last
/// nested task.
inline constexpr double kReservedStackShare = 1.0 / 16;
/// Maximum number of bytes of the error text of a failed task. Of longer texts, the beginning and
/// the end are kept. If many nested tasks fail because of one another, the text grows with each.
inline constexpr std::size_t kMaxErrorBytes = 4096;
/// Maximum number of finished tasks whose memory a pool keeps for new ones (3 MiB).
inline constexpr std::size_t kMaxRecycledTasks = 1 << 14;
/// Maximum number of bytes of results that a borrower keeps in shared memory instead of sending
/// them. Ranks of the same node that own these results read them there. The memory is freed when
/// the wait ends.
inline constexpr double kMaxKeptBytes = 1 << 28;
/// If a freed piece of shared memory has at least this many bytes, its pages are returned to the
/// operating system.
inline constexpr std::size_t kReturnToSystemBytes = std::size_t{64} << 20;
/// Maximum number of seconds for which a thread spins for a mutex. If it has to wait longer, the
/// thread that holds the mutex has probably lost its core.
inline constexpr double kMutexSpin_s = 0.5e-6;
/// Maximum number of ranks in a summary.
inline constexpr std::size_t kMaxSummaryLines = 32;
/// Maximum number of events of each kind per rank in a trace; they take 8 to 16 MB.
inline constexpr std::size_t kMaxEvents = 200'000;

}  // namespace poise::tasks::tuning
