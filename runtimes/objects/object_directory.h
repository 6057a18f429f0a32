// SPDX-License-Identifier: BSD-3-Clause
// Stores where the objects are. Either each rank stores the place of every object, so lookups need
// no communication, or (Mode::hierarchical) the directory is distributed over the ranks.
#pragma once

#include <optional>
#include <utility>

#include "runtimes/objects/ghost_directory.h"
#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/mail.h"

#include "poise/placement/placement.h"

namespace poise::objects {

class ObjectDirectory {
 public:
  /// `layout` must outlive the directory.
  ObjectDirectory(const JobLayout& layout, Placement placement)
      : layout_(layout), num_objects_(placement.num_tasks()), placement_(std::move(placement)) {}
  ObjectDirectory(const JobLayout& layout, ObjectId num_objects, GhostDirectory ghosts)
      : layout_(layout), num_objects_(num_objects), ghosts_(std::move(ghosts)) {}

  struct Found {
    int rank;
    bool is_known;  // if false, `rank` is the object's home, which passes messages on
  };
  ObjectId num_objects() const { return num_objects_; }
  /// Returns the rank to which to send a message for the object.
  Found find(ObjectId id) const {
    if (!ghosts_) return {layout_.rank_of(placement_.of(id)), true};
    const auto [position, is_known] = ghosts_->find(id);
    return {layout_.rank_at(position), is_known};
  }
  /// Returns the rank on which the object is. Throws Error if there is no such object, or if this
  /// rank does not know where the object is (Mode::hierarchical).
  int rank_of(ObjectId id) const {
    if (id >= num_objects())
      fail("rank_of({}): there are {} objects, numbered from 0", id, num_objects());
    const auto [rank, is_known] = find(id);
    if (!is_known)
      fail(
          "rank_of({}): this rank does not know where the object is, because with "
          "POISE_MODE=hierarchical each rank stores the locations of only some objects; use "
          "POISE_MODE=root",
          id);
    return rank;
  }
  /// Throws Error if there is no object `to`. The error's text need not name the sender, because
  /// the job then ends with a message that names the sender.
  void check_receiver(ObjectId to) const {
    if (to >= num_objects())
      fail("cannot send a message to object {}; there are {} objects, numbered from 0", to,
           num_objects());
  }

  const JobLayout& layout() const { return layout_; }
  /// The distributed directory; null if each rank stores the place of every object.
  GhostDirectory* ghosts() { return ghosts_ ? &*ghosts_ : nullptr; }
  const GhostDirectory* ghosts() const { return ghosts_ ? &*ghosts_ : nullptr; }
  /// The place of every object, unless the directory is distributed.
  const Placement& placement() const { return placement_; }
  void update(Placement placement) { placement_ = std::move(placement); }

 private:
  const JobLayout& layout_;
  ObjectId num_objects_;
  Placement placement_;
  std::optional<GhostDirectory> ghosts_;
};

}  // namespace poise::objects
