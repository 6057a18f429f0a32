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

/// Joins the blocks of a file into one profile per rank, all with the same number of phases. A job
/// that died has blocks for several ways to divide the run into phases (Cuts). The result uses the
/// best of these ways in which every rank with blocks has at least two phases. If there is no such
/// way, the result usually uses time slices. It keeps only the phases that all ranks with blocks
/// wrote. Ranks without blocks get empty phases. Throws Error if the blocks belong to different
/// jobs.
std::vector<RankProfile> whole(const std::vector<RankProfile>& blocks);

/// The hosts, in the order of their first ranks, and for each entry of `ranks` the number of its
/// host in that order.
struct Hosts {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_rank = {};
};
Hosts hosts_of(const std::vector<RankProfile>& ranks);

/// The seconds that a rank itself worked in a phase: its useful time minus the time that it waited
/// for a cpu.
double load_s(const Phase& phase);

/// Returns the place of a rank that ran on `cpu` of host number `host`.
using PlaceOf = std::function<PlaceId(std::uint32_t host, std::int32_t cpu)>;

/// `ranks` are the profiles from whole(). If `machine` is null, the trace has one place per rank.
Trace trace_of(const std::vector<RankProfile>& ranks, const Machine* machine,
               const PlaceOf& place_of);

}  // namespace poise::profile
