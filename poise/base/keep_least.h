// SPDX-License-Identifier: BSD-3-Clause
// Keeps the smallest few of many items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace poise {

/// Keeps the `count` smallest items, in unspecified order, and erases the others. O(n) on average.
template <typename T, typename Less>
void keep_least(std::vector<T>& items, std::size_t count, Less less) {
  if (items.size() <= count) return;
  const auto end = items.begin() + count;
  std::nth_element(items.begin(), end, items.end(), less);
  items.erase(end, items.end());
}

}  // namespace poise
