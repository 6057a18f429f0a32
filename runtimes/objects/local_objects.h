// SPDX-License-Identifier: BSD-3-Clause
// The objects that live on this rank.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtimes/objects/any_object.h"
#include "runtimes/objects/object_directory.h"

namespace poise::objects {

struct LocalObject {
  ObjectId id = 0;
  std::unique_ptr<AnyObject> object = {};
  std::vector<Mail> inbox = {};

  // Measurements of the object since the last decision.
  double wall_s = 0;                    // of all its steps
  std::vector<double> subphase_s = {};  // loads by subphase, measured by Options::clock

  /// Moving average of the time that a step of the object takes, in seconds, with one entry per
  /// subphase; 0 if it is unknown. Maintained only if steps may be offloaded.
  std::vector<float> step_s = {};
};

/// The objects in order of their ids.
class LocalObjects {
 public:
  /// If `one_place_per_thread` is true, by_place() lists the objects of each place. `directory`
  /// must outlive the LocalObjects.
  LocalObjects(const ObjectDirectory& directory, bool one_place_per_thread);

  std::size_t size() const { return objects_.size(); }
  LocalObject& operator[](std::size_t index) { return objects_[index]; }
  const LocalObject& operator[](std::size_t index) const { return objects_[index]; }
  auto begin() { return objects_.begin(); }
  auto end() { return objects_.end(); }
  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

  LocalObject& by_id(ObjectId id) { return objects_[index_of_[id]]; }
  std::uint32_t index_of(ObjectId id) const { return index_of_[id]; }
  /// The indices of the objects at each of this rank's places. Empty if the rank does not have one
  /// place per thread.
  const std::vector<std::vector<std::uint32_t>>& by_place() const { return by_place_; }

  /// Removes the objects that have left this rank (their `object` is null) and adds those that have
  /// arrived. The directory must be updated before.
  void update(std::vector<LocalObject> arrived);

 private:
  const ObjectDirectory& directory_;
  bool one_place_per_thread_;
  std::vector<LocalObject> objects_;
  std::vector<std::uint32_t> index_of_;  // by id; valid for objects of this rank
  std::vector<std::vector<std::uint32_t>> by_place_;
};

}  // namespace poise::objects
