// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/first_to_finish.h"

#include <limits>
#include <utility>

namespace poise {

PlaceId FirstToFinish::with(double load_s) const {
  if (machine_.has_equal_speeds()) return groups_.all()[0].least();
  std::pair best{std::numeric_limits<double>::infinity(), PlaceId{0}};
  for (const SpeedGroup& group : groups_.all()) {
    const PlaceId p = group.least();
    best = std::min(best, {busy_s(p) + load_s / machine_.speed_of(p), p});
  }
  return best.second;
}

}  // namespace poise
