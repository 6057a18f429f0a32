// SPDX-License-Identifier: BSD-3-Clause
// Arrays whose memory returns to the system as soon as they are freed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "poise/base/pages.h"

namespace poise {

/// An allocator that returns the pages of a large array to the system when the array is freed. The
/// C library would keep the pages of freed arrays of up to 32 MB, although later arrays may not fit
/// into them. These pages would add to the memory of a process that alternately makes and frees
/// arrays of different sizes.
template <typename T>
struct ReturningPages {
  using value_type = T;
  ReturningPages() = default;
  template <typename Other>
  ReturningPages(const ReturningPages<Other>&) {}

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* values, std::size_t count) {
    // Arrays below this size keep their pages: they hold little memory, and getting a page from the
    // system again takes about as long as filling it.
    constexpr std::size_t kLargeBytes = 1 << 22;
    if (count * sizeof(T) >= kLargeBytes) return_pages(values, values + count);
    std::allocator<T>().deallocate(values, count);
  }
  friend bool operator==(const ReturningPages&, const ReturningPages&) { return true; }
};

template <typename T>
using LargeArray = std::vector<T, ReturningPages<T>>;

}  // namespace poise
