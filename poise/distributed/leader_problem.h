// SPDX-License-Identifier: BSD-3-Clause
// The problem that one leader decides: which of its children gets each vertex.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/distributed/pieces.h"
#include "poise/distributed/rank_groups.h"
#include "poise/machine/machine.h"
#include "poise/strategies/strategy.h"

namespace poise {

/// A vertex for which a leader decides. Its home is its index in the piece of the leader in whose
/// part its tasks are now.
struct Guest {
  VertexName home;
  PieceVertex vertex;
};

/// Messages between a guest and another vertex, which may be a guest of another leader.
struct GuestEdge {
  VertexName guest, other;
  std::uint32_t other_leader = 0;  // of the group that gets the other one
  std::uint32_t is_sent = 0;       // the guest sends; otherwise it receives
  std::uint64_t count = 0, bytes = 0;
};

/// What all ranks know alike.
struct DecisionContext {
  const Machine& machine;
  const RankGroups& groups;
  const Choice& strategy;
  std::uint64_t seed = 0;
};

/// Where each guest goes: the leader of a group of the level below. Guests that are at home with
/// this leader start with the child where they are, and their migration costs; others come anyway
/// and start where their messages go, on a child with room. Messages to other leaders' guests end
/// at ports: places of these leaders' groups, as many at most as there are children.
std::vector<std::uint32_t> decide(const DecisionContext& context, std::size_t level,
                                  std::uint32_t leader, std::span<const Guest> guests,
                                  std::span<const GuestEdge> edges);

}  // namespace poise
