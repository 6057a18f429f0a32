#include "runtimes/juggle/quota.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "poise/base/text.h"

namespace poise::juggle {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto words = split(text.substr(0, text.find('\n')), ' ');
  if (words.size() != 2) return {};
  const auto quota = parse_number(words[0]), period = parse_number(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return *quota / *period;
}

std::optional<std::string_view> parse_cgroup_path(std::string_view text) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("0::/")) return line.substr(3);
  return {};
}

std::optional<double> quota_cpus() {
  const std::string groups = text_of("/proc/self/cgroup");
  const auto path = parse_cgroup_path(groups);
  std::optional<double> tightest;
  for (std::string group(path.value_or("")); !group.empty();
       group.erase(std::min(group.rfind('/'), group.size()))) {
    const auto quota = parse_cpu_max(text_of("/sys/fs/cgroup" + group + "/cpu.max"));
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  }
  return tightest;
}

}  // namespace poise::juggle
