// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/barrier.h"

#include <algorithm>
#include <vector>

#include "poise/placement/message_times.h"

namespace poise {

double barrier_end_s(const Machine& machine, std::span<const double> enters_s) {
  const CostModel& costs = machine.costs();
  const PlaceId count = enters_s.size();
  std::vector<double> now_s(enters_s.begin(), enters_s.end()), next_s(count);
  for (PlaceId distance = 1; distance < count; distance *= 2) {
    for (PlaceId to = 0; to < count; ++to) {
      const PlaceId from = to >= distance ? to - distance : to + count - distance;
      const EndTimes out = end_times(machine, costs, LoadsInclude::none, 1, 0, to,
                                     to + distance < count ? to + distance : to + distance - count);
      const EndTimes in = end_times(machine, costs, LoadsInclude::none, 1, 0, from, to);
      next_s[to] = std::max(now_s[to] + out.sender_s,
                            now_s[from] + in.sender_s + latency_s(machine, costs, from, to)) +
                   in.receiver_s;
    }
    now_s.swap(next_s);
  }
  return count > 0 ? *std::max_element(now_s.begin(), now_s.end()) : 0;
}

}  // namespace poise
