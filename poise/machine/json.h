// SPDX-License-Identifier: BSD-3-Clause
// Machines as JSON: the format of machines/*.json, `poise measure` and `poise topo --json`.
//
// Keys ("poise_machine" and "levels" are required):
//
//   poise_machine   1, the version of the format
//   levels          coarsest first, the last one holding the places: a list of {"name",
//                   "count" (groups in each group of the level above), "latency_factor",
//                   "bandwidth_factor", "also"}
//   name, origin, processor
//                   texts
//   assumed         a list of texts
//   summary         {"nodes", "domains", "places"}: checked if given
//   domains         the level whose groups are the memory domains, or "machine", or a list with
//                   the number of places of each domain; default: "numa", else "package",
//                   "pack", "socket", "node", the machine
//   numa            {"source", "latency_factor", "bandwidth_factor"}: rows "from", columns "to";
//                   for unequal nodes {"source", "kinds": [{...}], "kind_of_node": list}
//   network         {"source", "shape", "latency_factor", "bandwidth_factor", ...}, see below
//   root            {"latency_factor", "bandwidth_factor"} of places that share no group
//   costs           the numbers of cost_model.h by their names there; the others are assumed
//   speeds, os_index, threads
//                   lists with one entry per place
//   numa_index, memory_bytes
//                   lists with one entry per domain
//   cache_source, speed_source
//                   each "assumed", "firmware", "given" or "measured"
//   caches, other_memory, measurement
//                   see facts.h
//
// network: shape "tree" has "tiers": [{"nodes_per_group": list, "latency_factor"}]; "matrix" has
// "matrix": rows; "torus", "mesh" and "dragonfly" have "dims", "factor_per_hop",
// "same_router_factor", "nodes_per_router" and, for an allocation, "routers" (each carrying
// nodes_per_router nodes) or "router_of_node".
//
// A list is a number, or an array of numbers and texts such as "4 x 2" or "0-7" (sequence.h). A
// list that is too short is repeated, so twenty equal nodes are written once.
#pragma once

#include <string>
#include <string_view>

#include "poise/machine/limits.h"
#include "poise/machine/machine.h"

namespace poise {

/// Throws Error naming `file` if a key is invalid (then the text also names the key), or if the
/// machine has too many places.
Machine machine_from_json(std::string_view text, const std::string& file,
                          std::uint32_t max_places = kMaxPlaces);

/// Writes all digits: reading the text gives exactly the same machine.
std::string machine_to_json(const Machine& machine);

}  // namespace poise
