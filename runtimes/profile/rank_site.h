// SPDX-License-Identifier: BSD-3-Clause
// The parts of a host (package, memory domain, cache, core) on which a rank runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace poise::profile {

/// The parts of a host that contain all cpus on which the rank may run: package, memory domain,
/// cache and core, each by the kernel's number. A number is -1 if no single part contains all these
/// cpus, or if it is unknown. Trivially copyable, because ranks send it to each other.
struct RankSite {
  char host[68] = {};  // Linux host names have at most 64 characters
  std::int32_t package = -1, numa = -1, l3 = -1, core = -1;
};

/// Returns the cpus on which a thread of this process may run, in ascending order. `thread` is the
/// kernel's thread id, or 0 for the calling thread.
std::vector<int> allowed_cpus(int thread);

/// Returns the host of the calling thread, and the parts of the host that contain the thread's
/// cpus.
RankSite own_site();

/// Returns the package, memory domain, cache and core that contain all of `cpus`. Leaves the member
/// `host` empty. `folder` is /sys/devices/system/cpu or a copy of it. Reads at most four files per
/// cpu.
RankSite site_of(std::span<const int> cpus, const std::string& folder);

}  // namespace poise::profile
