// SPDX-License-Identifier: BSD-3-Clause
// Machines as one line of text: "node:20 numa:2 core:2 factors:10,1.5,1".
#pragma once

#include <string_view>

#include "poise/machine/limits.h"
#include "poise/machine/machine.h"

namespace poise {

/// Reads a machine from words. First come the levels, from the coarsest down to the places, each as
/// NAME:COUNT. Then `factors:` may follow, with one number per level: the first for messages
/// between different groups of the first level, the second for messages inside a group of the first
/// level but between different groups of the second, and so on. Default factors: 10 between nodes,
/// 1.5 between domains, 1 inside a domain.
///
/// The first level may be the shape of the network: torus:8x8x8, mesh:4x4, dragonfly:9x4 (9 groups
/// of 4 routers). Each router is a node, unless `node:2` follows the shape, which puts two nodes on
/// each router. hop:0.5 adds 0.5 to the factor for each hop after the first. Other costs, in
/// seconds: message:1e-5 byte:0 migrated_byte:1e-9. speeds:1,1,0.5,0.5 gives the places' speeds;
/// the list is repeated.
///
/// Costs of the formula `physical` (cost_model.h), in seconds and bytes per second:
/// bandwidth:1.25e10 (a network card), cards:1 (per node), gap:1e-8 (per message and card),
/// bus:5e10 (a memory bus), uplink:1e11,5e10 (per tier above the nodes, coarsest first),
/// shared_network:1.25e8 (one for all nodes), latency:1e-7 (per unit of factor), overhead:3e-7 (per
/// message and end), copy:1e-10 (per byte and end), migrated_task:5e-6. A bandwidth of 0 means that
/// there is no limit.
///
/// The memory domains are the groups of "numa", or of "package" ("pack", "socket") if there is no
/// such level, or of "node". Throws Error naming the invalid word.
Machine machine_from_text(std::string_view text, std::uint32_t max_places = kMaxPlaces);

/// A machine of `num_places` equal places in one domain, with the message costs of a default
/// CostModel.
Machine flat_machine(std::uint32_t num_places);

}  // namespace poise
