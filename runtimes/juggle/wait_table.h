// SPDX-License-Identifier: BSD-3-Clause
// The table in which the threads of a program report that they wait, in memory that the program
// shares with the balancer. The library that is preloaded into the program writes it
// (preloaded/waits.cc); the balancer reads it (wait_watch.h). Neither waits for the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace poise::juggle {

/// The environment variable with the path of the table and its key, separated by a colon.
inline constexpr char kWaitsVariable[] = "POISE_JUGGLE_WAITS";

/// The name that the table's memory has in /proc/PID/maps of a process that has opened the table.
inline constexpr char kWaitsMemory[] = "/memfd:poise_juggle_waits";

inline constexpr std::size_t kWaitSlots = 16384;
/// A thread's entry is in one of this many consecutive slots; the thread's id determines the first
/// of these slots. If other threads have taken all these slots, the thread has no entry: its waits
/// are unknown.
inline constexpr std::size_t kWaitProbes = 16;

/// A thread's entry. It has a cache line of its own, because its thread writes it often.
struct alignas(64) WaitSlot {
  std::atomic<pid_t> thread;    // 0: free
  std::atomic<bool> is_inside;  // the thread is in a call that waits
  /// Time at which the thread last called sched_yield, by the monotonic clock.
  std::atomic<std::int64_t> yield_ns;
};

struct WaitTable {
  std::uint64_t key;  // a number that the balancer sets to recognise its own table
  // A futex: 1 if a thread has begun to wait since the balancer last looked.
  std::atomic<std::uint32_t> has_news;
  WaitSlot slots[kWaitSlots];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "futexes are 32 bits");

/// Returns the slot of the thread. If the thread has no slot and `claims` is true, first gives it a
/// free slot. Returns null if the thread still has no slot.
inline WaitSlot* slot_of(WaitTable& table, pid_t thread, bool claims) {
  for (std::size_t i = 0; i < kWaitProbes; ++i) {
    WaitSlot& slot = table.slots[(thread + i) % kWaitSlots];
    pid_t owner = slot.thread.load(std::memory_order_relaxed);
    if (owner == thread) return &slot;
    if (owner == 0 && claims && slot.thread.compare_exchange_strong(owner, thread)) return &slot;
  }
  return nullptr;
}

}  // namespace poise::juggle
