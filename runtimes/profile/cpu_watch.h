// SPDX-License-Identifier: BSD-3-Clause
// Measures how much CPU time this process used, and how much all programs used on the same cpus.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace poise::profile {

/// CPU time in nanoseconds while a CpuWatch watched.
struct CpuUse {
  std::int64_t all_ns = -1;  // of all programs, on the cpus that this process may use; -1: unknown
  std::int64_t own_ns = 0;   // of this process, and of its children that it has waited for
};

/// Watches the cpus from its construction on. It reads one file at the beginning and one at the
/// end, so it costs nothing in between.
class CpuWatch {
 public:
  CpuWatch();
  /// Returns the CPU time since construction. `cpus`: Linux's ids of the cpus that count. The
  /// kernel counts the time of all programs in ticks of usually 10 ms. O(cpus of the host).
  CpuUse read(std::span<const std::int32_t> cpus) const;

 private:
  std::map<std::int32_t, std::int64_t> all_at_begin_;
  std::int64_t own_at_begin_;
};

/// Returns the CPU time that all programs and the kernel have used since the host started, in
/// nanoseconds per cpu id. `file` is /proc/stat or a copy of it. Returns an empty map if the file
/// cannot be read.
std::map<std::int32_t, std::int64_t> busy_ns(const std::string& file);

}  // namespace poise::profile
