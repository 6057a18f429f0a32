// SPDX-License-Identifier: BSD-3-Clause
// Returns unused memory to the system. charmc compiles this header as well, so it must be valid
// C++17.
#pragma once

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace poise {

/// Returns the whole pages in [first, last) to the system. The memory must be unused. It stays
/// allocated: if it is written again, the system provides new pages.
inline void return_pages(const void* first, const void* last) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page,
                       end = reinterpret_cast<std::uintptr_t>(last) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace poise
