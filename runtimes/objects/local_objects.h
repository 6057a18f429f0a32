// SPDX-License-Identifier: BSD-3-Clause
// The objects that live on this rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtimes/objects/any_object.h"
#include "runtimes/objects/mail.h"

#include "poise/distributed/id_table.h"
#include "poise/machine/machine.h"

namespace poise::objects {

struct LocalObject {
  ObjectId id = 0;
  PlaceId place = 0;
  std::unique_ptr<AnyObject> object = {};
  std::vector<Mail> inbox = {};

  // Measurements of the object since the last decision.
  double wall_s = 0;                    // wall time of all steps of the object
  double load_s = 0;                    // load of all steps, measured by CollectionOptions::clock
  std::vector<double> subphase_s = {};  // loads by subphase, measured by CollectionOptions::clock

  /// Moving average of the time that a step of the object takes, in seconds, with one entry per
  /// subphase; 0 if it is unknown. Maintained only if steps may be offloaded.
  std::vector<float> step_s = {};
};

/// The objects in order of their ids.
class LocalObjects {
 public:
  /// With several `places`, one for each thread, the objects are also listed by place.
  explicit LocalObjects(std::vector<PlaceId> places = {});

  std::size_t size() const { return objects_.size(); }
  LocalObject& operator[](std::size_t index) { return objects_[index]; }
  const LocalObject& operator[](std::size_t index) const { return objects_[index]; }
  auto begin() { return objects_.begin(); }
  auto end() { return objects_.end(); }
  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

  LocalObject& by_id(ObjectId id) { return objects_[index_of_.find(id)]; }
  /// Returns null if the object is not on this rank.
  LocalObject* find(ObjectId id) {
    const std::uint32_t index = index_of_.find(id);
    return index == IdTable::kNone ? nullptr : &objects_[index];
  }
  /// For each place, the indices of its objects. Empty if the constructor was given no places.
  const std::vector<std::vector<std::uint32_t>>& by_place() const { return by_place_; }

  /// Removes the objects that have left (those whose `object` is null), and adds those that
  /// arrived. `place_of` has the places of all objects that are on this rank afterwards, in order
  /// of ids.
  void update(std::vector<LocalObject> arrived, std::span<const PlaceId> place_of);

 private:
  std::vector<PlaceId> places_;
  std::vector<LocalObject> objects_;
  IdTable index_of_;
  std::vector<std::vector<std::uint32_t>> by_place_;
};

}  // namespace poise::objects
