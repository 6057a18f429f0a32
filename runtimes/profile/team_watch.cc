// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/team_watch.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <set>
#include <string>
#include <unistd.h>

#include "runtimes/profile/machinery.h"
#include "runtimes/profile/rank_site.h"

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

/// Reads the kernel's scheduling counters of a thread of this process. Returns false if the thread
/// has ended or the kernel has no such counters.
bool read_use(int thread, ThreadUse& use) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/schedstat";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const int read = std::fscanf(file, "%" SCNd64 " %" SCNd64 " %" SCNu64, &use.run_ns,
                               &use.queued_ns, &use.turns);
  std::fclose(file);
  return read == 3;
}

std::map<int, ThreadUse> uses_of_all() {
  std::map<int, ThreadUse> uses;
  DIR* const folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return uses;
  while (const dirent* const entry = ::readdir(folder)) {
    const int thread = std::atoi(entry->d_name);
    ThreadUse use;
    if (thread > 0 && read_use(thread, use)) uses[thread] = use;
  }
  ::closedir(folder);
  return uses;
}

}  // namespace

TeamWatch::TeamWatch()
    : initial_(::gettid()),
      begin_ns_(wall_now_ns()),
      cpus_(allowed_cpus(0)),
      at_begin_(uses_of_all()) {}

TeamUse TeamWatch::read() const {
  TeamUse team{.watched_ns = wall_now_ns() - begin_ns_};
  std::set<std::int32_t> cpus(cpus_.begin(), cpus_.end());
  for (auto [thread, use] : uses_of_all()) {
    if (const auto before = at_begin_.find(thread); before != at_begin_.end()) {
      use.run_ns -= before->second.run_ns;
      use.queued_ns -= before->second.queued_ns;
      use.turns -= before->second.turns;
    }
    const std::vector<int> allowed = allowed_cpus(thread);
    if (allowed.size() == 1) use.only_cpu = allowed.front();
    cpus.insert(allowed.begin(), allowed.end());
    team.threads.insert(thread == initial_ ? team.threads.begin() : team.threads.end(), use);
  }
  team.cpus.assign(cpus.begin(), cpus.end());
  return team;
}

}  // namespace poise::profile
