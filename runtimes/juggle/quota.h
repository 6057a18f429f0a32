// The cpu time that a cgroup may use, in cpus: under a quota, threads are throttled wherever they
// run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poise::juggle {

/// "150000 100000", a quota and its period in microseconds, as 1.5 cpus; nothing for "max …" and
/// "-1 …".
std::optional<double> parse_cpu_max(std::string_view text);

/// A folder of a cgroup that may hold a quota: in version 2 as cpu.max, in version 1 as
/// cpu.cfs_quota_us and cpu.cfs_period_us.
struct QuotaFolder {
  std::string path;
  bool is_unified = false;
  friend bool operator==(const QuotaFolder&, const QuotaFolder&) = default;
};

/// Those of a process's cgroups and of all above them, in both versions, from the texts of
/// /proc/self/cgroup and /proc/self/mountinfo.
std::vector<QuotaFolder> quota_folders(std::string_view cgroups, std::string_view mounts);

/// The tightest quota of this process's cgroups; nothing without.
std::optional<double> quota_cpus();

}  // namespace poise::juggle
