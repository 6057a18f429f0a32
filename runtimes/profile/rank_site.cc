// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/rank_site.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sched.h>
#include <vector>

#include "runtimes/profile/machinery.h"

namespace poise::profile {

namespace {

// Length of a cpu mask in units of cpu_set_t, each for 1,024 cpus. The mask is long enough for more
// cpus than Linux supports.
constexpr std::size_t kSets = 16;

/// The number at the beginning of a file, or -1 if there is none. If the file is a list of cpus,
/// this number is the lowest cpu.
std::int32_t number_in(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return -1;
  int number = -1;
  if (std::fscanf(file, "%d", &number) != 1) number = -1;
  std::fclose(file);
  return number;
}

/// The number of the memory domain. The kernel shows it as the name of a link, such as node1.
std::int32_t numa_of(const std::string& cpu) {
  DIR* const folder = ::opendir(cpu.c_str());
  if (folder == nullptr) return -1;
  int number = -1;
  while (const dirent* const entry = ::readdir(folder))
    if (std::sscanf(entry->d_name, "node%d", &number) == 1) break;
  ::closedir(folder);
  return number;
}

}  // namespace

std::vector<int> allowed_cpus(int thread) {
  std::vector<cpu_set_t> sets(kSets);
  const std::size_t size = kSets * sizeof(cpu_set_t);
  std::vector<int> cpus;
  if (::sched_getaffinity(thread, size, sets.data()) != 0) return cpus;
  for (int cpu = 0; cpu < static_cast<int>(8 * size); ++cpu)
    if (CPU_ISSET_S(cpu, size, sets.data())) cpus.push_back(cpu);
  return cpus;
}

RankSite site_of(std::span<const int> cpus, const std::string& folder) {
  RankSite common;
  bool is_first = true;
  const auto narrow = [&is_first](std::int32_t& number, const auto& read) {
    if (!is_first && number < 0) return;  // no single part contains all earlier cpus
    const std::int32_t own = read();
    number = is_first || own == number ? own : -1;
  };
  for (const int number : cpus) {
    const std::string cpu = folder + "/cpu" + std::to_string(number);
    narrow(common.package, [&] { return number_in(cpu + "/topology/physical_package_id"); });
    narrow(common.numa, [&] { return numa_of(cpu); });
    narrow(common.l3, [&] { return number_in(cpu + "/cache/index3/shared_cpu_list"); });
    narrow(common.core, [&] { return number_in(cpu + "/topology/thread_siblings_list"); });
    is_first = false;
    if (common.package < 0 && common.numa < 0 && common.l3 < 0 && common.core < 0) break;
  }
  return common;
}

RankSite own_site() {
  RankSite site = site_of(allowed_cpus(0), "/sys/devices/system/cpu");
  std::strncpy(site.host, host_name().c_str(), sizeof site.host - 1);
  return site;
}

}  // namespace poise::profile
