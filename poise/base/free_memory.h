// SPDX-License-Identifier: BSD-3-Clause
// Returns freed memory to the system.
#pragma once

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace poise {

/// Returns the memory that this process has freed to the system, as far as the C library can.
/// Otherwise the C library keeps freed arrays of up to 32 MB for reuse. Larger arrays cannot reuse
/// that memory, so it adds to the memory of the process.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace poise
