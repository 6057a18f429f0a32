// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/cgroup/quota.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

namespace poise::cgroup {

namespace {

/// Returns the content of a file, or an empty text if the file cannot be read.
std::string text_of(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
  std::fclose(file);
  return text;
}

// The next two functions duplicate functions of poise/base/text.h, because a library that is
// preloaded into programs should need no other library.

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string line_of(const std::string& path) {
  const std::string text = text_of(path);
  return text.substr(0, text.find('\n'));
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns the path of the process's cgroup in a hierarchy. `cgroups` is the text of
/// /proc/PID/cgroup. It contains the path in a line such as "0::/path" for cgroup version 2, or
/// "4:cpu,cpuacct:/path" for version 1.
std::optional<std::string_view> group_in(std::string_view cgroups, bool is_unified) {
  for (const std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (is_unified ? line.starts_with("0::") : has_word(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return {};
}

/// A line of /proc/self/mountinfo: the mounted part of a cgroup hierarchy, and the mount point.
struct Mount {
  std::string_view root, point;
  bool is_unified = false;
};

std::optional<Mount> mount_in(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == line.npos) return {};
  const auto words = split(line.substr(0, dash), ' '), kind = split(line.substr(dash + 3), ' ');
  if (words.size() < 5 || kind.size() < 3) return {};
  const bool is_unified = kind[0] == "cgroup2";
  if (!is_unified && !(kind[0] == "cgroup" && has_word(kind[2], "cpu"))) return {};
  return Mount{words[3], words[4], is_unified};
}

/// Returns the path of `group` relative to `root`. In a container, only the part of the hierarchy
/// below `root` is mounted.
std::string_view below(std::string_view group, std::string_view root) {
  const std::string_view rest = group.substr(std::min(root.size(), group.size()));
  const bool is_below = root != "/" && group.starts_with(root) && (rest.empty() || rest[0] == '/');
  return is_below ? rest : group;
}

/// Returns how long the group in this folder was stopped, in nanoseconds; 0 if unknown.
std::int64_t stopped_in(const std::string& path, bool is_unified) {
  const std::string_view name = is_unified ? "throttled_usec " : "throttled_time ";
  const std::string text = text_of(path + "/cpu.stat");
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(name))
      return parse_whole(line.substr(name.size())).value_or(0) * (is_unified ? 1000 : 1);
  return 0;
}

std::optional<double> quota_in(const std::string& path, bool is_unified) {
  if (is_unified) return parse_cpu_max(line_of(path + "/cpu.max"));
  return parse_cpu_max(line_of(path + "/cpu.cfs_quota_us") + " " +
                       line_of(path + "/cpu.cfs_period_us"));
}

/// Returns the folders of the cgroups that contain all of the processes. Ignores processes that
/// have ended. If no process is left, returns the folders of this process's cgroups.
std::vector<QuotaFolder> common_folders(const std::vector<pid_t>& processes,
                                        const std::string& root) {
  std::set<std::string> cgroups;  // texts of /proc/PID/cgroup; equal texts are stored once
  for (const pid_t process : processes)
    cgroups.insert(text_of(root + "/proc/" + std::to_string(process) + "/cgroup"));
  cgroups.erase("");
  if (cgroups.empty()) cgroups.insert(text_of(root + "/proc/self/cgroup"));
  const std::string mounts = text_of(root + "/proc/self/mountinfo");
  std::vector<QuotaFolder> common = quota_folders(*cgroups.begin(), mounts);
  for (const std::string& others : cgroups) {
    const std::vector<QuotaFolder> folders = quota_folders(others, mounts);
    std::erase_if(common, [&](const QuotaFolder& folder) {
      return std::find(folders.begin(), folders.end(), folder) == folders.end();
    });
  }
  return common;
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto words = split(text.substr(0, text.find('\n')), ' ');
  if (words.size() != 2) return {};
  const auto quota = parse_whole(words[0]), period = parse_whole(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::vector<QuotaFolder> quota_folders(std::string_view cgroups, std::string_view mounts) {
  std::vector<QuotaFolder> folders;
  for (const std::string_view line : split(mounts, '\n')) {
    const auto mount = mount_in(line);
    const auto group = mount ? group_in(cgroups, mount->is_unified) : std::nullopt;
    if (!group) continue;
    std::string path(below(*group, mount->root));
    while (path.ends_with('/')) path.pop_back();
    for (;; path.erase(path.rfind('/'))) {
      folders.push_back({std::string(mount->point) + path, mount->is_unified});
      if (path.empty()) break;
    }
  }
  return folders;
}

std::optional<double> quota_cpus(const std::vector<pid_t>& processes, const std::string& root) {
  std::optional<double> tightest;
  for (const QuotaFolder& folder : common_folders(processes, root)) {
    const auto quota = quota_in(root + folder.path, folder.is_unified);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  }
  return tightest;
}

std::int64_t stopped_ns(const std::string& root) {
  std::int64_t ns = 0;
  for (const QuotaFolder& folder : common_folders({}, root))
    ns += stopped_in(root + folder.path, folder.is_unified);
  return ns;
}

}  // namespace poise::cgroup
