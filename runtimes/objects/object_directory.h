// SPDX-License-Identifier: BSD-3-Clause
// The place of every object. Each rank keeps the whole directory, so lookups need no communication.
#pragma once

#include <utility>

#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/mail.h"

#include "poise/placement/placement.h"

namespace poise::objects {

class ObjectDirectory {
 public:
  /// `layout` must outlive the directory.
  ObjectDirectory(const JobLayout& layout, Placement placement)
      : layout_(layout), placement_(std::move(placement)) {}

  ObjectId num_objects() const { return placement_.num_tasks(); }
  PlaceId place_of(ObjectId id) const { return placement_.of(id); }
  int rank_of(ObjectId id) const { return layout_.rank_of(placement_.of(id)); }
  bool is_local(ObjectId id) const { return rank_of(id) == layout_.rank; }
  /// Throws Error if there is no object `to`. The text of the error does not name the sender: the
  /// job then ends with a message that contains this text and names the sender.
  void check_receiver(ObjectId to) const {
    if (to >= num_objects())
      fail("cannot send a message to object {}; there are {} objects, numbered from 0", to,
           num_objects());
  }

  const JobLayout& layout() const { return layout_; }
  const Placement& placement() const { return placement_; }
  void update(Placement placement) { placement_ = std::move(placement); }

 private:
  const JobLayout& layout_;
  Placement placement_;
};

}  // namespace poise::objects
