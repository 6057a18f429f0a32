// SPDX-License-Identifier: BSD-3-Clause
// Converts a profile to a trace, in which ranks are tasks and the cores on which they ran are
// places.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtimes/profile/profile_file.h"

#include "poise/trace/trace.h"

namespace poise::profile {

/// Joins the blocks of a file into one profile per rank. The profile of a rank that died has the
/// blocks that it had written; without any, it has no phases. If the run was divided into phases in
/// several ways, uses the best way that all ranks have, but only the phases that all ranks
/// completed. Throws Error if the blocks belong to different jobs.
std::vector<RankProfile> whole(const std::vector<RankProfile>& blocks);

/// Names of the hosts, in order of their first rank.
std::vector<std::string> hosts_of(const std::vector<RankProfile>& ranks);

/// The seconds that a rank itself worked in a phase: its useful time minus the time that it waited
/// for a cpu.
double load_s(const Phase& phase);

/// Returns the place of a rank that ran on `cpu` of host number `host`.
using PlaceOf = std::function<PlaceId(std::uint32_t host, std::int32_t cpu)>;

/// `ranks` are the profiles from whole(). If `machine` is null, the trace has one place per rank.
Trace trace_of(const std::vector<RankProfile>& ranks, const Machine* machine,
               const PlaceOf& place_of);

}  // namespace poise::profile
