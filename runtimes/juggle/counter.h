// What a thread has done, counted by the processor: instructions tell progress on unequal cores, on
// threads of one core and at any clock, where cpu time does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// What is counted: instructions of the program, or its cpu time in nanoseconds (which needs no
/// counter in hardware).
enum class Counted : std::uint8_t { instructions, time };

/// Counts of a thread from now on (perf_event_open). Nothing, with errno, where that is not allowed
/// or there is no such counter.
Descriptor open_counter(pid_t thread, Counted what);

/// The count so far, scaled up for the time in which the counter was lent to others.
std::optional<double> read_counter(const Descriptor& counter);

/// What progress is taken from: instructions where cpus are unequal and instructions can be
/// counted, else cpu time.
enum class ProgressSource : std::uint8_t { automatic, time, instructions };

/// "auto", "time", "instructions". Throws Error with the names there are.
ProgressSource progress_source_named(std::string_view name);

}  // namespace poise::juggle
