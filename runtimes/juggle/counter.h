// SPDX-License-Identifier: BSD-3-Clause
// Counts a thread's work with a processor counter. The number of instructions measures progress
// even if cpus are unequal, share a core or change their clock frequency; cpu time does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// The counted event: instructions in user mode, or cpu time in nanoseconds, which needs no
/// hardware counter.
enum class Counted : std::uint8_t { instructions, time };

/// Starts a counter for a thread (perf_event_open). Returns an empty descriptor and sets errno if
/// counting is not allowed, the counter does not exist, or opening it would use up the limit of
/// open files.
Descriptor open_counter(pid_t thread, Counted what);

/// Returns the count so far, scaled up to make up for the time in which the kernel let another
/// counter use the hardware.
std::optional<double> read_counter(const Descriptor& counter);

/// How to measure progress. `automatic` counts instructions if cpus are unequal and instructions
/// can be counted; otherwise it measures cpu time.
enum class ProgressSource : std::uint8_t { automatic, time, instructions };

/// Parses "auto", "time" or "instructions". For any other text, throws Error with the known names.
ProgressSource progress_source_named(std::string_view name);

}  // namespace poise::juggle
