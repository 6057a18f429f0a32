// SPDX-License-Identifier: BSD-3-Clause
// A directory that is distributed over the ranks. It tells each rank where its own objects are, and
// where the receivers of their messages are.
//
// Every object has a home, a rank that always knows where the object is: ids are divided among the
// homes in blocks. A message for an object whose rank is not known here goes to the home, which
// passes it on and tells the sender's rank where the object is. So in the steady state every
// message goes straight to its receiver, and a rank stores only its own objects, its ghosts
// (objects of other ranks that its objects send to) and its share of the ids.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtimes/objects/mail.h"

#include "poise/distributed/communicator.h"
#include "poise/distributed/id_table.h"
#include "poise/workload/workload.h"

namespace poise::objects {

/// In this class a rank is identified by its position: its index in the list of all ranks, ordered
/// by their places (job_layout.h).
class GhostDirectory {
 public:
  GhostDirectory(ObjectId num_objects, std::uint32_t position, std::uint32_t num_ranks);

  struct Found {
    std::uint32_t position;
    bool is_known;  // if false, `position` is that of the object's home
  };
  Found find(ObjectId id) const {
    if (is_home_of(id)) return {at_[id - first_], true};
    const std::uint32_t number = known_.find(id);
    if (number != IdTable::kNone) return {position_of_known_[number], true};
    return {home_of(id), false};
  }
  std::uint32_t home_of(ObjectId id) const { return std::uint64_t{id} * num_ranks_ / num_objects_; }

  /// Stores where an object is at the start. To be called for every object, in the order of ids.
  void add_initial(ObjectId id, std::uint32_t position) {
    if (home_of(id) == position_) at_.push_back(position);
    if (position == position_) learn(id, position);
  }
  /// Stores that an object is on the rank with this position (its index in the order of places).
  /// Does nothing on the home of the object, which knows the object's rank already.
  void learn(ObjectId id, std::uint32_t position);

  /// Updates the directory after a migration. Tells the home of each object that left this rank the
  /// object's new position. Asks the homes of this rank's new ghosts (objects to which its objects
  /// send) where the ghosts are. `leaving` lists the objects that left, by new position. `own`
  /// lists the objects that are now on this rank. `sent` has the messages that this rank's objects
  /// sent before the migration; each receiver becomes a ghost of its sender's new rank. Collective.
  void update(Communicator& ranks, const std::map<std::uint32_t, std::vector<ObjectId>>& leaving,
              std::span<const Message> sent, std::span<const ObjectId> own);

  /// The number of objects whose rank is stored here.
  std::size_t size() const { return at_.size() + known_.size(); }

 private:
  bool is_home_of(ObjectId id) const { return id >= first_ && id - first_ < at_.size(); }
  std::vector<ObjectId> ghosts_after(Communicator& ranks,
                                     const std::map<std::uint32_t, std::vector<ObjectId>>& leaving,
                                     std::span<const Message> sent,
                                     std::span<const ObjectId> own) const;

  ObjectId num_objects_;
  std::uint32_t position_, num_ranks_;
  ObjectId first_ = 0;             // first id of the block whose home is this rank
  std::vector<std::uint32_t> at_;  // for each id of this block, the rank where the object is
  IdTable known_;                  // own objects and ghosts, except those whose home is this rank
  std::vector<std::uint32_t> position_of_known_;
};

}  // namespace poise::objects
