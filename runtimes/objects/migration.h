// SPDX-License-Identifier: BSD-3-Clause
// Moves objects between ranks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtimes/objects/message_exchange.h"
#include "runtimes/objects/object_directory.h"
#include "runtimes/objects/packing.h"

namespace poise::objects {

/// The objects that one rank has to send and receive to reach a new placement.
struct MigrationPlan {
  std::uint64_t num_migrations = 0;  // sum over all ranks
  std::size_t num_arriving = 0;
  std::map<int, std::vector<ObjectId>> leaving;  // by destination rank
  /// The places of the objects that are on this rank after the migration, in the order of the
  /// objects' ids.
  std::vector<PlaceId> places;
};

/// Plans the migrations if every rank knows both placements, so that the ranks need not
/// communicate. Objects that change places within a rank do not migrate.
MigrationPlan plan_migrations(const ObjectDirectory& directory, const Placement& next);

/// Carries out a plan. A message with objects is sent as soon as it is large enough, while the next
/// objects are packed and arriving ones unpacked. Updates the objects, but not the directory.
/// Returns the number of bytes that this rank sent. Collective.
std::uint64_t migrate(const MigrationPlan& plan, const ObjectPacker& packer, LocalObjects& objects,
                      Messenger& messenger, MessageExchange& messages);

}  // namespace poise::objects
