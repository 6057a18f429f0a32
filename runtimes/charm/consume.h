// SPDX-License-Identifier: BSD-3-Clause
// Visits each row of a list once and frees visited rows early, to save memory. charmc compiles this
// header as well, so it must be valid C++17.
#pragma once

#include <cstddef>
#include <vector>

#include "poise/base/pages.h"

namespace poise::charm {

/// Calls visit(row) for every row, from the last to the first. Removes the rows, and returns their
/// memory to the system as it goes.
template <typename Row, typename Visit>
void consume(std::vector<Row>& rows, const Visit& visit) {
  constexpr std::size_t kRowsAtOnce = 1 << 14;  // about 1 MB
  const Row* last = rows.data() + rows.size();
  while (!rows.empty()) {
    visit(rows.back());
    rows.pop_back();
    if (rows.size() % kRowsAtOnce != 0) continue;
    const Row* first = rows.data() + rows.size();
    return_pages(first, last);
    last = first;
  }
  std::vector<Row>().swap(rows);  // "rows = {}" would not free the memory
}

}  // namespace poise::charm
