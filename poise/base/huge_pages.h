// SPDX-License-Identifier: BSD-3-Clause
// Asks the system for huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace poise {

/// Reserves memory for `count` elements that will soon be added. Uses huge pages if the system has
/// any: with small pages of 4 KiB, filling a large new array takes several times as long, because
/// the system spends most of that time on mapping pages.
template <typename T>
void reserve_in_huge_pages(std::vector<T>& values, std::size_t count) {
  values.reserve(count);
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{1}
                                   << 21;  // size of a huge page on x86-64, and usually on ARM
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + count * sizeof(T)) / kPage * kPage;
  // This is only a hint: the system may still map small pages.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace poise
