// SPDX-License-Identifier: BSD-3-Clause
// The quota of cpu time of a cgroup, as a number of cpus. When the threads of a cgroup have
// together used up its quota, the kernel stops all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace poise::cgroup {

/// Parses "150000 100000" (quota and period in microseconds) as 1.5 cpus. Returns nothing for "max
/// …" and "-1 …", which mean that there is no quota.
std::optional<double> parse_cpu_max(std::string_view text);

/// The folder of a cgroup. The cgroup's quota of cpu time, if any, is in the file cpu.max (cgroup
/// version 2) or in cpu.cfs_quota_us and cpu.cfs_period_us (version 1).
struct QuotaFolder {
  std::string path;
  bool is_unified = false;
  friend bool operator==(const QuotaFolder&, const QuotaFolder&) = default;
};

/// Returns the folders of a process's cgroups and of all their ancestors, for both versions of
/// cgroups. `cgroups` is the text of /proc/PID/cgroup, `mounts` that of /proc/self/mountinfo.
std::vector<QuotaFolder> quota_folders(std::string_view cgroups, std::string_view mounts);

/// Returns the smallest quota among the cgroups that contain all of the given processes, or nothing
/// if there is none. Ignores processes that have ended. If no process is left, returns the quota of
/// this process. In tests, `root` is a folder with copies of the files of another system.
std::optional<double> quota_cpus(const std::vector<pid_t>& processes = {},
                                 const std::string& root = "");

/// Returns the total time, in nanoseconds, for which the kernel has stopped this process's cgroups
/// and their ancestors since their creation, because they had used up their quotas. If threads of a
/// stopped group were ready to run on n cpus, the time counts n times. Returns 0 if it is unknown.
std::int64_t stopped_ns(const std::string& root = "");

}  // namespace poise::cgroup
