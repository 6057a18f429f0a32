// SPDX-License-Identifier: BSD-3-Clause
// Checks MPI programs for leaks while MPI's shared libraries are still loaded and have symbols.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISE_LOOKS_FOR_LEAKS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define POISE_LOOKS_FOR_LEAKS 1
#endif
#include <mpi.h>

#ifdef POISE_LOOKS_FOR_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace poise {

/// Ends the process with an error if memory leaked. Replaces the check at exit, and must be called
/// before MPI_Finalize. Does nothing without the address sanitizer.
inline void check_leaks() {
#ifdef POISE_LOOKS_FOR_LEAKS
  __lsan_do_leak_check();
#endif
}

/// Initializes MPI without counting its allocations as leaks. MPI_Init_thread allocates memory that
/// MPI never frees. A list of suppressions would not help: when the process exits, some of MPI's
/// libraries are already unloaded, so leaks cannot be matched with the names of their functions.
inline int init_mpi(int& argc, char**& argv, int wanted) {
  int level = 0;
#ifdef POISE_LOOKS_FOR_LEAKS
  const __lsan::ScopedDisabler nobody_looks;
#endif
  MPI_Init_thread(&argc, &argv, wanted, &level);
  return level;
}

}  // namespace poise
