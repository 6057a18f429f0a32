// The cpu time that a cgroup may use, in cpus: under a quota, threads are throttled wherever they
// run.
#pragma once

#include <optional>
#include <string_view>

namespace poise::juggle {

/// "150000 100000", a quota and its period in microseconds, as 1.5 cpus; nothing for "max …".
std::optional<double> parse_cpu_max(std::string_view text);

/// The path of the unified hierarchy in /proc/self/cgroup: its line "0::/path"; nothing without.
std::optional<std::string_view> parse_cgroup_path(std::string_view text);

/// The tightest quota of this process's cgroup and those above it (version 2); nothing without.
std::optional<double> quota_cpus();

}  // namespace poise::juggle
