// SPDX-License-Identifier: BSD-3-Clause
// Synchronises the clocks of hosts: converts a time on this host's clock to a time on the clock of
// rank 0's host.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace poise::profile {

/// The times of one message to another host and of its answer.
struct RoundTrip {
  std::int64_t sent_ns = 0, received_ns = 0;  // times by this rank's clock
  std::int64_t there_ns = 0;                  // when the other rank replied, by that rank's clock
};

/// By how much another clock is ahead of this clock at the time when this clock shows `at_ns`.
struct ClockOffset {
  std::int64_t at_ns = 0, ahead_ns = 0;
  std::int64_t error_ns = 0;  // maximum error of the estimated offset
};

/// Estimates the offset from the fastest of several round trips. The other clock is assumed to have
/// been read in the middle of this trip, so the error is at most half of the trip's duration
/// (Cristian, 1989).
ClockOffset offset_of(std::span<const RoundTrip> trips);

/// The offset of clock C from clock A, given the offsets of B from A and of C from B. The errors of
/// these two offsets add up.
ClockOffset chained(const ClockOffset& ours, const ClockOffset& theirs);

/// Converts times of this clock to times of another clock, which may run faster or slower.
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

/// Identifies the clock: processes that return the same text have the same CLOCK_MONOTONIC. The
/// text is made of the boot id and the time namespace or, if the kernel does not provide them, is
/// the host's name.
std::string clock_name();

}  // namespace poise::profile
