// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/weighed_messages.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>

#include "poise/base/random.h"

namespace poise {
namespace {

double plain_sum(const std::vector<std::pair<double, std::uint64_t>>& added) {
  std::map<double, std::uint64_t> counts;
  for (const auto& [weight, count] : added) counts[weight] += count;
  double sum = 0;
  for (const auto& [weight, count] : counts) sum += weight * static_cast<double>(count);
  return sum;
}

TEST(WeighedMessages, after_removals_the_sum_is_exactly_that_of_the_remaining_messages) {
  for (const std::uint64_t num_weights : {1, 4, 40}) {
    Random random(num_weights);
    WeighedMessages messages;
    std::vector<std::pair<double, std::uint64_t>> added;
    std::vector<std::pair<std::size_t, std::size_t>> marks;
    for (int step = 0; step < 2000; ++step) {
      if (random.below(4) == 0) marks.emplace_back(messages.size(), added.size());
      if (random.below(4) == 0 && !marks.empty()) {
        messages.shrink_to(marks.back().first);
        added.resize(marks.back().second);
        marks.pop_back();
      } else {
        added.emplace_back(0.1 * static_cast<double>(random.below(num_weights)) - 1,
                           random.below(3));
        messages.add(added.back().first, added.back().second);
      }
      ASSERT_EQ(messages.sum(), plain_sum(added)) << step;
    }
  }
}

}  // namespace
}  // namespace poise
