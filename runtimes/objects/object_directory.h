// Where every object lives. Each rank keeps the whole directory, so nobody has to be asked.
#pragma once

#include <utility>

#include "runtimes/objects/mail.h"
#include "runtimes/objects/world.h"

#include "poise/placement/placement.h"

namespace poise::objects {

class ObjectDirectory {
 public:
  /// `world` must outlive the directory.
  ObjectDirectory(const World& world, Placement placement)
      : world_(world), placement_(std::move(placement)) {}

  ObjectId num_objects() const { return placement_.num_tasks(); }
  PlaceId place_of(ObjectId id) const { return placement_.of(id); }
  int rank_of(ObjectId id) const { return world_.rank_of(placement_.of(id)); }
  bool is_local(ObjectId id) const { return rank_of(id) == world_.rank; }
  /// Throws Error if there is no object `to`, on behalf of an object that sends to it.
  void check_receiver(ObjectId to) const {
    if (to >= num_objects())
      fail("it sent a message to object {}; ids are below {}", to, num_objects());
  }

  const World& world() const { return world_; }
  const Placement& placement() const { return placement_; }
  void update(Placement placement) { placement_ = std::move(placement); }

 private:
  const World& world_;
  Placement placement_;
};

}  // namespace poise::objects
