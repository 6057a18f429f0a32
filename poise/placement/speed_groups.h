// SPDX-License-Identifier: BSD-3-Clause
// The busy seconds of all places, in one tournament tree per speed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/least_busy.h"

namespace poise {

/// Places of equal or similar speed, with their busy seconds.
struct SpeedGroup {
  double min_speed, max_speed;
  std::vector<PlaceId> places;  // in ascending order
  LeastBusy busy;               // the busy times, by index in `places`
  bool is_dense;                // places[i] is i for every i, as on a machine of one speed

  bool has_one_speed() const { return min_speed == max_speed; }
  PlaceId place(PlaceId index) const { return is_dense ? index : places[index]; }
  PlaceId least() const { return place(busy.least()); }

  /// Index, inside the group, of the first place whose ID is at least p; if there is none, the
  /// number of places of the group.
  PlaceId index_from(PlaceId p) const {
    if (is_dense) return std::min(p, static_cast<PlaceId>(places.size()));
    return std::lower_bound(places.begin(), places.end(), p) - places.begin();
  }
};

/// The groups of a machine. With more than 32 different speeds, similar speeds share a group.
class SpeedGroups {
 public:
  SpeedGroups(const Machine& machine, const std::vector<double>& busy_s);

  /// The groups, in ascending order of speed.
  std::span<const SpeedGroup> all() const { return groups_; }

  double busy_s(PlaceId p) const { return groups_[group_of_[p]].busy.busy_s(index_of_[p]); }
  void set(PlaceId p, double busy_s) { groups_[group_of_[p]].busy.set(index_of_[p], busy_s); }
  void add(PlaceId p, double seconds) { groups_[group_of_[p]].busy.add(index_of_[p], seconds); }

 private:
  std::vector<SpeedGroup> groups_;
  std::vector<std::uint32_t> group_of_;  // per place
  std::vector<PlaceId> index_of_;        // per place: its index in its group
};

}  // namespace poise
