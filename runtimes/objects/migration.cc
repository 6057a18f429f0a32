// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/migration.h"

#include <utility>

#include "runtimes/objects/tuning.h"

namespace poise::objects {

namespace {

/// Unpacks the objects of an arrived message. Their inboxes refer to the message, so it is kept.
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
  plan.leaving.resize(static_cast<std::size_t>(layout.num_ranks));
  for (const Migration& migration : migrations(directory.placement(), next)) {
    const int from = layout.rank_of(migration.from), to = layout.rank_of(migration.to);
    if (from == to) continue;
    ++plan.num_migrations;
    if (to == layout.rank) ++plan.num_arriving;
    if (from == layout.rank) plan.leaving[static_cast<std::size_t>(to)].push_back(migration.task);
  }
  return plan;
}

std::uint64_t migrate(const MigrationPlan& plan, const Placement& next, const ObjectPacker& packer,
                      ObjectDirectory& directory, LocalObjects& objects, Messenger& messenger,
                      MessageExchange& messages) {
  std::uint64_t sent_bytes = 0;
  std::vector<LocalObject> arrived;
  Messenger::Received received;
  for (std::size_t to = 0; to < plan.leaving.size(); ++to) {
    MessageBuffer message;
    for (const ObjectId id : plan.leaving[to]) {
      LocalObject& object = objects.by_id(id);
      packer.pack(object, message.open());
      object.object.reset();
      const bool is_last = id == plan.leaving[to].back();
      if (!is_last && message.content().size() < tuning::kMigrationMessageBytes) continue;
      sent_bytes += message.content().size();
      messenger.send(static_cast<int>(to), std::exchange(message, {}));
      while (messenger.try_receive(received))
        unpack_all(std::move(received.buffer), packer, arrived, messages);
    }
  }
  while (arrived.size() < plan.num_arriving)
    unpack_all(messenger.receive().buffer, packer, arrived, messages);
  messenger.finish();
  directory.update(next);
  objects.update(std::move(arrived));
  return sent_bytes;
}

}  // namespace poise::objects
