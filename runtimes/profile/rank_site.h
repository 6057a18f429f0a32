// SPDX-License-Identifier: BSD-3-Clause
// Where a rank runs, as its host describes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace poise::profile {

/// Plain bytes, which ranks send to each other. Numbers are the kernel's, of the parts of the host
/// that hold all cpus that the rank may use; -1: there is no such part, or it is not known.
struct RankSite {
  char host[68] = {};  // a name of Linux has at most 64 characters
  std::int32_t package = -1, numa = -1, l3 = -1, core = -1;
};

/// Of the calling thread.
RankSite own_site();

/// The parts that hold all these cpus; `host` stays empty. `folder`: /sys/devices/system/cpu or a
/// copy of it. Reads at most four files per cpu.
RankSite site_of(std::span<const int> cpus, const std::string& folder);

}  // namespace poise::profile
