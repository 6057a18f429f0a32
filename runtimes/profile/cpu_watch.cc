// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/cpu_watch.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

#include "runtimes/cgroup/quota.h"

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

constexpr const char* kFile = "/proc/stat";

std::int64_t own_ns() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const std::int64_t seconds = children.ru_utime.tv_sec + children.ru_stime.tv_sec;
  const std::int64_t us = children.ru_utime.tv_usec + children.ru_stime.tv_usec;
  return process_cpu_now_ns() + 1'000'000'000 * seconds + 1000 * us;
}

}  // namespace

std::map<std::int32_t, std::int64_t> busy_ns(const std::string& file) {
  std::map<std::int32_t, std::int64_t> busy;
  std::FILE* const stat = std::fopen(file.c_str(), "re");
  if (stat == nullptr) return busy;
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  char* line = nullptr;
  std::size_t size = 0;
  while (::getline(&line, &size, stat) > 0) {
    char cpu[8];
    // All times are in ticks. `user` includes the time of guests (virtual machines on this host).
    // `steal` is left out: the hypervisor gave that time to other virtual machines, so no program
    // of this host used it.
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0;
    // The first line, `cpu`, is the sum over all cpus. The lines of cpus begin with cpu0, cpu1, ...
    if (std::sscanf(line,
                    "cpu%7[0-9] %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                    " %" SCNd64 " %" SCNd64,
                    cpu, &user, &nice, &system, &idle, &waiting, &irq, &softirq) == 8)
      busy[std::atoi(cpu)] = tick_ns * (user + nice + system + irq + softirq);
  }
  std::free(line);
  std::fclose(stat);
  return busy;
}

CpuWatch::CpuWatch()
    : all_at_begin_(busy_ns(kFile)),
      own_at_begin_(own_ns()),
      stopped_at_begin_(cgroup::stopped_ns()) {}

CpuUse CpuWatch::read(std::span<const std::int32_t> cpus) const {
  CpuUse use{.own_ns = own_ns() - own_at_begin_,
             .quota_cpus = cgroup::quota_cpus().value_or(0),
             .stopped_ns = cgroup::stopped_ns() - stopped_at_begin_};
  const auto now = busy_ns(kFile);
  std::int64_t all_ns = 0;
  for (const std::int32_t cpu : cpus) {
    const auto begin = all_at_begin_.find(cpu), end = now.find(cpu);
    if (begin == all_at_begin_.end() || end == now.end()) return use;
    all_ns += end->second - begin->second;
  }
  use.all_ns = all_ns;
  return use;
}

}  // namespace poise::profile
