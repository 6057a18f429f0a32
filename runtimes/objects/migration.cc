// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/migration.h"

#include <utility>

#include "runtimes/objects/tuning.h"

namespace poise::objects {

namespace {

/// Unpacks the objects of an arrived message. Keeps the message, because inboxes refer to it.
void unpack_all(MessageBuffer buffer, const ObjectPacker& packer, std::vector<LocalObject>& arrived,
                MessageExchange& messages) {
  auto bytes = buffer.content();
  bool has_messages = false;
  while (!bytes.empty())
    has_messages = packer.unpack_with_inbox(bytes, arrived.emplace_back()) || has_messages;
  if (has_messages) messages.keep(std::move(buffer));
}

}  // namespace

MigrationPlan plan_migrations(const ObjectDirectory& directory, const Placement& next) {
  const JobLayout& layout = directory.layout();
  MigrationPlan plan;
  for (const PlaceId place : next.places())
    if (layout.rank_of(place) == layout.rank) plan.places.push_back(place);
  for (const Migration& migration : migrations(directory.placement(), next)) {
    const int from = layout.rank_of(migration.from), to = layout.rank_of(migration.to);
    if (from == to) continue;
    ++plan.num_migrations;
    if (to == layout.rank) ++plan.num_arriving;
    if (from == layout.rank) plan.leaving[to].push_back(migration.task);
  }
  return plan;
}

std::uint64_t migrate(const MigrationPlan& plan, const ObjectPacker& packer, LocalObjects& objects,
                      Messenger& messenger, MessageExchange& messages) {
  std::uint64_t sent_bytes = 0;
  std::vector<LocalObject> arrived;
  Messenger::Received received;
  for (const auto& [to, leaving] : plan.leaving) {
    MessageBuffer message;
    for (const ObjectId id : leaving) {
      LocalObject& object = objects.by_id(id);
      packer.pack(object, message.open());
      object.object.reset();
      const bool is_last = id == leaving.back();
      if (!is_last && message.content().size() < tuning::kMigrationMessageBytes) continue;
      sent_bytes += message.content().size();
      messenger.send(to, std::exchange(message, {}));
      while (messenger.try_receive(received))
        unpack_all(std::move(received.buffer), packer, arrived, messages);
    }
  }
  while (arrived.size() < plan.num_arriving)
    unpack_all(messenger.receive().buffer, packer, arrived, messages);
  messenger.finish();
  objects.update(std::move(arrived), plan.places);
  return sent_bytes;
}

}  // namespace poise::objects
