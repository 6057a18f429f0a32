// SPDX-License-Identifier: BSD-3-Clause
// A profile as a trace: ranks are tasks, the cores they ran on their places.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/trace/trace.h"

namespace poise::profile {

/// The file's blocks as one profile per rank. What a rank left in pieces when it died is put
/// together: of the ways to cut phases the best that all ranks have, and as many phases as each
/// has. A rank that left nothing has no phases. Throws Error if the blocks are not of one job.
std::vector<RankProfile> whole(const std::vector<RankProfile>& blocks);

/// Names of the hosts, in order of their first rank.
std::vector<std::string> hosts_of(const std::vector<RankProfile>& ranks);

/// Seconds of a rank's own work in a phase: useful time without what it waited for a cpu.
double load_s(const Phase& phase);

/// The place of a rank that ran on this cpu of the host with this number.
using PlaceOf = std::function<PlaceId(std::uint32_t host, std::int32_t cpu)>;

/// `ranks`: as whole() returns them. Without a machine the trace has one place per rank.
Trace trace_of(const std::vector<RankProfile>& ranks, const Machine* machine,
               const PlaceOf& place_of);

}  // namespace poise::profile
