// SPDX-License-Identifier: BSD-3-Clause
// The decision of a leader: to which child group of its rank group each vertex is assigned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/distributed/pieces.h"
#include "poise/distributed/rank_groups.h"
#include "poise/machine/machine.h"
#include "poise/strategies/strategy.h"

namespace poise {

/// A guest is a vertex that a leader assigns to one of its child groups. The vertex may still be
/// stored by another leader: `home` names that leader's rank and the index of the vertex there.
struct Guest {
  VertexName home;
  PieceVertex vertex;
};

/// Messages between a guest (a vertex that this leader assigns) and another vertex, which may be a
/// guest of another leader.
struct GuestEdge {
  VertexName guest, other;
  std::uint32_t other_leader = 0;  // leader of the group to which `other` is assigned
  std::uint32_t is_sent = 0;       // 1: the guest sends the messages; 0: it receives them
  std::uint64_t count = 0, bytes = 0;
};

/// The part of a decision's input that is the same on all ranks.
struct DecisionContext {
  const Machine& machine;
  const RankGroups& groups;
  const Choice& strategy;
  std::uint64_t seed = 0;
  LoadsInclude loads_include = LoadsInclude::none;
  std::size_t num_cycles = 1;  // number of V-cycles of this attempt
};

/// Assigns each guest (a vertex about which this leader decides) to a child of the leader's group.
/// Returns, for each guest, the leader of that child group. A guest whose home is this leader
/// starts at its current child, and moving it to another child costs a migration. Other guests
/// migrate in any case; each starts at the child with which it exchanges most messages, among the
/// children that have room for it. Vertices about which other leaders decide are represented by
/// ports, which are places in the groups of these leaders; a leader with n children has at most n +
/// 1 ports.
std::vector<std::uint32_t> decide(const DecisionContext& context, std::size_t level,
                                  std::uint32_t leader, std::span<const Guest> guests,
                                  std::vector<GuestEdge> edges);

}  // namespace poise
