// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/lowest_threshold.h"

#include <utility>

namespace poise {

Placement lowest_threshold(
    double hoped_s, double reached_s, double precision_s, const Placement& current,
    const std::function<std::optional<Placement>(double threshold_s)>& attempt) {
  Placement best = current;
  double threshold_s = hoped_s, failed_s = hoped_s;
  while (threshold_s < reached_s) {
    if (auto found = attempt(threshold_s)) {
      best = std::move(*found);
      reached_s = threshold_s;
    } else {
      failed_s = threshold_s;
    }
    if (reached_s - failed_s <= precision_s) break;
    threshold_s = (failed_s + reached_s) / 2;
  }
  return best;
}

}  // namespace poise
