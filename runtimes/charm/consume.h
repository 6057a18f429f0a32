// SPDX-License-Identifier: BSD-3-Clause
// Visits each row of a list once and frees visited rows early, to save memory. charmc compiles this
// header as well, so it must be valid C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace poise::charm {

/// Returns the whole pages in [first, last) to the system. The memory must be unused. It stays
/// allocated: if it is written again, the system provides new pages.
inline void return_pages(const void* first, const void* last) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page,
                       end = reinterpret_cast<std::uintptr_t>(last) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

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
