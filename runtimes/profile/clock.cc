// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/clock.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "runtimes/profile/machinery.h"

namespace poise::profile {

ClockOffset offset_of(std::span<const RoundTrip> trips) {
  if (trips.empty()) return {};
  const auto length = [](const RoundTrip& trip) { return trip.received_ns - trip.sent_ns; };
  const RoundTrip& best = *std::min_element(
      trips.begin(), trips.end(),
      [&](const RoundTrip& a, const RoundTrip& b) { return length(a) < length(b); });
  const std::int64_t middle_ns = best.sent_ns + length(best) / 2;
  return {middle_ns, best.there_ns - middle_ns, (length(best) + 1) / 2};
}

ClockOffset chained(const ClockOffset& ours, const ClockOffset& theirs) {
  return {ours.at_ns, ours.ahead_ns + theirs.ahead_ns, ours.error_ns + theirs.error_ns};
}

std::int64_t CommonClock::common_ns(std::int64_t own_ns) const {
  const std::int64_t apart_ns = last_.at_ns - first_.at_ns;
  if (apart_ns <= 0) return own_ns + first_.ahead_ns;
  const double share = 1.0 * (own_ns - first_.at_ns) / apart_ns;
  const double gained = last_.ahead_ns - first_.ahead_ns;
  return own_ns + first_.ahead_ns + static_cast<std::int64_t>(share * gained);
}

std::int64_t CommonClock::error_ns() const { return std::max(first_.error_ns, last_.error_ns); }

std::string clock_name() {
  char boot[64] = {}, space[64] = {};
  std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file != nullptr) {
    if (std::fgets(boot, sizeof boot, file) == nullptr) boot[0] = '\0';
    std::fclose(file);
  }
  if (boot[0] == '\0') return host_name();
  const ssize_t size = ::readlink("/proc/self/ns/time", space, sizeof space - 1);
  return std::string(boot) + (size > 0 ? space : "");
}

}  // namespace poise::profile
