// SPDX-License-Identifier: BSD-3-Clause
// Measures how much CPU time this process used, how much all programs used on the same cpus, and
// how long the kernel stopped this process because of a CPU quota.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace poise::profile {

/// CPU times in nanoseconds since a CpuWatch was constructed.
struct CpuUse {
  std::int64_t all_ns = -1;  // CPU time of all programs on this process's cpus; -1: unknown
  std::int64_t own_ns = 0;   // CPU time of this process and the children it has waited for
  double quota_cpus = 0;     // the quota of the process's cgroup, as a number of cpus; 0: none
  /// How long the kernel stopped the cgroup because it had used up its quota, summed over cpus.
  std::int64_t stopped_ns = 0;
};

/// Watches the cpus from its construction on. It reads a few files at the beginning and at the end,
/// so it costs nothing in between.
class CpuWatch {
 public:
  CpuWatch();
  /// Returns the CPU time since construction. `cpus`: Linux's ids of the cpus on which the CPU time
  /// of all programs is summed. The kernel counts this time in ticks, usually of 10 ms. O(cpus of
  /// the host).
  CpuUse read(std::span<const std::int32_t> cpus) const;

 private:
  std::map<std::int32_t, std::int64_t> all_at_begin_;
  std::int64_t own_at_begin_, stopped_at_begin_;
};

/// Returns the CPU time that all programs and the kernel have used since the host started, in
/// nanoseconds per cpu id. `file` is /proc/stat or a copy of it. Returns an empty map if the file
/// cannot be read.
std::map<std::int32_t, std::int64_t> busy_ns(const std::string& file);

}  // namespace poise::profile
