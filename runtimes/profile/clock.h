// SPDX-License-Identifier: BSD-3-Clause
// Clocks of hosts against each other: what the clock of rank 0's host shows when ours shows a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace poise::profile {

/// One message to another host and back.
struct RoundTrip {
  std::int64_t sent_ns = 0, received_ns = 0;  // by our clock
  std::int64_t there_ns = 0;                  // by theirs, in between
};

/// How far another clock is ahead of ours, when our clock shows `at_ns`.
struct ClockOffset {
  std::int64_t at_ns = 0, ahead_ns = 0;
  std::int64_t error_ns = 0;  // the true offset lies within it
};

/// From the fastest of several round trips: the other clock was read at its middle, give or take
/// half its length (Cristian, 1989).
ClockOffset offset_of(std::span<const RoundTrip> trips);

/// Clock A against C, from A against B and B against C.
ClockOffset chained(const ClockOffset& ours, const ClockOffset& theirs);

/// Turns times of our clock into times of another, which may run faster or slower than ours.
class CommonClock {
 public:
  CommonClock() = default;
  explicit CommonClock(const ClockOffset& first) : first_(first), last_(first) {}
  void add(const ClockOffset& last) { last_ = last; }

  std::int64_t common_ns(std::int64_t own_ns) const;
  std::int64_t error_ns() const;

 private:
  ClockOffset first_, last_;
};

/// Processes with the same text have the same CLOCK_MONOTONIC: boot and time namespace, or the
/// host's name where the kernel does not tell.
std::string clock_name();

}  // namespace poise::profile
