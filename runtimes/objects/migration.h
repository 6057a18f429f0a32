// SPDX-License-Identifier: BSD-3-Clause
// Moves objects between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/objects/message_exchange.h"
#include "runtimes/objects/packing.h"

namespace poise::objects {

/// The objects that one rank has to send and receive when a new placement replaces the current one.
/// Every rank knows these two placements, so the ranks make the plan without communication.
struct MigrationPlan {
  std::uint64_t num_migrations = 0;  // sum over all ranks
  std::size_t num_arriving = 0;
  std::vector<std::vector<ObjectId>> leaving;  // indexed by destination rank
};

/// Plans the migrations. Objects that change places within a rank do not migrate.
MigrationPlan plan_migrations(const ObjectDirectory& directory, const Placement& next);

/// Carries out a plan. A message with objects is sent as soon as it is large enough, while the next
/// objects are packed and arriving ones unpacked. Updates the directory and the objects. Returns
/// the number of bytes that this rank sent. Collective.
std::uint64_t migrate(const MigrationPlan& plan, const Placement& next, const ObjectPacker& packer,
                      ObjectDirectory& directory, LocalObjects& objects, Messenger& messenger,
                      MessageExchange& messages);

}  // namespace poise::objects
