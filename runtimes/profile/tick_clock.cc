// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/tick_clock.h"

#include <cstdio>
#include <cstring>

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

// CLOCK_MONOTONIC is read again if its last reading is older than this.
constexpr std::int64_t kMaxAge_ns = 1'000'000;
// The rate of the processor's counter is measured over at least this many nanoseconds.
constexpr std::int64_t kMinBase_ns = 10'000'000;
/// A clock reading that took longer than this many ticks was interrupted, and is not used for
/// calibration.
constexpr std::uint64_t kMaxReading_ticks = 2000;

/// True if the kernel itself uses the counter as its clock. Then the counter is the same on all
/// cores and has a constant rate.
bool kernel_trusts_counter() {
  std::FILE* const file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return false;
  char name[16] = {};
  const bool has_name = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return has_name && std::strcmp(name, "tsc\n") == 0;
}

}  // namespace

TickClock::TickClock() {
#if defined(__x86_64__)
  is_usable_ = kernel_trusts_counter();
#endif
}

std::int64_t TickClock::read_slowly_ns() {
#if defined(__x86_64__)
  if (!is_usable_) return wall_now_ns();
  const std::uint64_t before = __rdtsc();
  const std::int64_t now_ns = wall_now_ns();
  const std::uint64_t reading = __rdtsc() - before;
  if (reading > kMaxReading_ticks) return now_ns;
  const std::uint64_t ticks = before + reading / 2;
  if (base_ns_ == 0 || ticks <= base_ticks_) {
    base_ns_ = now_ns;
    base_ticks_ = ticks;
    limit_ticks_ = 0;
  } else if (now_ns - base_ns_ >= kMinBase_ns) {
    const double ns_per_tick = 1.0 * (now_ns - base_ns_) / (ticks - base_ticks_);
    const bool is_sane = ns_per_tick > 0.05 && ns_per_tick < 10;
    scale_ = is_sane ? static_cast<std::uint64_t>(ns_per_tick * 0x1p32) : 0;
    limit_ticks_ = is_sane ? static_cast<std::uint64_t>(kMaxAge_ns / ns_per_tick) : 0;
    base_ns_ = now_ns;
    base_ticks_ = ticks;
  }
  anchor_ns_ = now_ns;
  anchor_ticks_ = ticks;
  return now_ns;
#else
  return wall_now_ns();
#endif
}

}  // namespace poise::profile
