// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/lowest_threshold.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace poise {
namespace {

struct Case {
  double hoped_s, reached_s, precision_s;
  double reachable_s;  // attempts with at least this threshold are successful
  std::vector<double> tried_s;
  double found_s;  // threshold of the placement that is returned; 0: the current placement
};

TEST(LowestThreshold, bisects_until_the_threshold_is_known_to_within_the_precision) {
  for (const auto& [hoped_s, reached_s, precision_s, reachable_s, tried_s, found_s] :
       {Case{4, 12, 1, 3, {4}, 4}, Case{4, 12, 1, 4, {4}, 4},
        Case{4, 12, 1, 9.5, {4, 8, 10, 9}, 10}, Case{4, 12, 1, 5.5, {4, 8, 6, 5}, 6},
        Case{4, 12, 2, 5.5, {4, 8, 6}, 6}, Case{4, 12, 4, 5.5, {4, 8}, 8},
        Case{4, 12, 1, 11.75, {4, 8, 10, 11}, 0},
        Case{4, 12, 0.5, 11.5, {4, 8, 10, 11, 11.5}, 11.5}, Case{4, 12, 8, 5, {4}, 0},
        Case{12, 12, 1, 5, {}, 0}, Case{13, 12, 1, 5, {}, 0}}) {
    SCOPED_TRACE(testing::Message() << hoped_s << " " << precision_s << " " << reachable_s);
    // A successful attempt puts the only task on the place whose number is that of the attempt,
    // counted from 1.
    std::vector<double> thresholds_s;
    const double limit_s = reachable_s;
    const Placement found =
        lowest_threshold(hoped_s, reached_s, precision_s, Placement(1, 0),
                         [&](double threshold_s) -> std::optional<Placement> {
                           thresholds_s.push_back(threshold_s);
                           if (threshold_s < limit_s) return std::nullopt;
                           return Placement(1, static_cast<PlaceId>(thresholds_s.size()));
                         });
    EXPECT_EQ(thresholds_s, tried_s);
    EXPECT_EQ(found.of(0) == 0 ? 0 : thresholds_s[found.of(0) - 1], found_s);
  }
}

}  // namespace
}  // namespace poise
