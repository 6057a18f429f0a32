// SPDX-License-Identifier: BSD-3-Clause
// Returns freed memory to the system.
#pragma once

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace poise {

/// Returns freed memory of this process to the system, as far as the C library can. Without this
/// call, the C library keeps freed arrays of up to 32 MB. Larger arrays cannot reuse the kept
/// memory, so the process grows.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace poise
