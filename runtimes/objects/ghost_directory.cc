// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/ghost_directory.h"

#include <algorithm>

namespace poise::objects {

namespace {

struct Location {
  ObjectId id;
  std::uint32_t position;
};

void sort_and_unify(std::vector<ObjectId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

GhostDirectory::GhostDirectory(ObjectId num_objects, std::uint32_t position,
                               std::uint32_t num_ranks)
    : num_objects_(num_objects), position_(position), num_ranks_(num_ranks) {
  const auto first_of = [&](std::uint32_t rank) {  // rounded up
    return static_cast<ObjectId>((std::uint64_t{rank} * num_objects + num_ranks - 1) / num_ranks);
  };
  first_ = first_of(position);
  at_.reserve(first_of(position + 1) - first_);
}

void GhostDirectory::learn(ObjectId id, std::uint32_t position) {
  if (is_home_of(id)) return;
  const std::uint32_t number = known_.insert(id);
  if (number == position_of_known_.size()) position_of_known_.push_back(position);
  position_of_known_[number] = position;
}

void GhostDirectory::update(Communicator& ranks,
                            const std::map<std::uint32_t, std::vector<ObjectId>>& leaving,
                            std::span<const Message> sent, std::span<const ObjectId> own) {
  poise::Mail<Location> moved;
  for (const auto& [position, ids] : leaving)
    for (const ObjectId id : ids) moved[home_of(id)].push_back({id, position});
  for (const auto& [from, locations] : ranks.exchange(moved))
    for (const auto& [id, position] : locations) at_[id - first_] = position;

  poise::Mail<ObjectId> questions;
  for (const ObjectId id : ghosts_after(ranks, leaving, sent, own))
    questions[home_of(id)].push_back(id);
  poise::Mail<std::uint32_t> answers;
  for (const auto& [from, ids] : ranks.exchange(questions))
    for (const ObjectId id : ids) answers[from].push_back(at_[id - first_]);
  answers = ranks.exchange(answers);

  known_ = IdTable();
  position_of_known_.clear();
  for (const ObjectId id : own) learn(id, position_);
  for (const auto& [home, ids] : questions)
    for (std::size_t i = 0; i < ids.size(); ++i) learn(ids[i], answers.at(home)[i]);
}

/// Returns the ghosts of this rank after a migration, sorted by id. These are the receivers of
/// messages from the objects in `own`, except objects in `own` and objects whose home is this rank.
std::vector<ObjectId> GhostDirectory::ghosts_after(
    Communicator& ranks, const std::map<std::uint32_t, std::vector<ObjectId>>& leaving,
    std::span<const Message> sent, std::span<const ObjectId> own) const {
  IdTable left;
  std::vector<std::uint32_t> new_position;
  for (const auto& [position, ids] : leaving)
    for (const ObjectId id : ids) {
      left.insert(id);
      new_position.push_back(position);
    }
  poise::Mail<ObjectId> receivers;
  for (const Message& message : sent) {
    const std::uint32_t number = left.find(message.from);
    receivers[number == IdTable::kNone ? position_ : new_position[number]].push_back(message.to);
  }
  for (auto& [position, ids] : receivers) sort_and_unify(ids);
  std::vector<ObjectId> ghosts;
  for (const auto& [from, ids] : ranks.exchange(receivers))
    for (const ObjectId id : ids)
      if (!is_home_of(id) && !std::binary_search(own.begin(), own.end(), id)) ghosts.push_back(id);
  sort_and_unify(ghosts);
  return ghosts;
}

}  // namespace poise::objects
