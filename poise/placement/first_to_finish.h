// Which place would finish one more task first, on machines of one speed or of several.
#pragma once

#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/least_busy.h"

namespace poise {

/// The busy seconds of all places of a machine, asked for the one that finishes a task first.
///
/// Places of one speed share a tournament. Past 32 different speeds, neighbouring speeds share one:
/// the answer is then the best of each group's least busy place.
class FirstToFinish {
 public:
  FirstToFinish(const Machine& machine, const std::vector<double>& busy_s);

  double busy_s(PlaceId p) const { return groups_[group_of_[p]].busy.busy_s(index_of_[p]); }
  void set(PlaceId p, double busy_s) { groups_[group_of_[p]].busy.set(index_of_[p], busy_s); }
  void add(PlaceId p, double seconds) { groups_[group_of_[p]].busy.add(index_of_[p], seconds); }

  /// The place with the least busy + load / speed; on ties the lower id.
  PlaceId with(double load_s) const;

 private:
  struct Group {
    std::vector<PlaceId> places;  // ascending
    LeastBusy busy;               // by position in `places`
  };
  const Machine& machine_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;  // per place
  std::vector<PlaceId> index_of_;        // per place, in its group
};

}  // namespace poise
