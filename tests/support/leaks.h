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

/// Makes calls to MPI in which MPI allocates memory that it never frees. This memory does not count
/// as leaked. A list of suppressions would not help: when the process exits, some of MPI's
/// libraries are already unloaded, so leaks cannot be matched with the names of their functions.
template <typename Calls>
void call_leaky_mpi(const Calls& calls) {
#ifdef POISE_LOOKS_FOR_LEAKS
  const __lsan::ScopedDisabler nobody_looks;
#endif
  calls();
}

/// Initializes MPI. Returns the level of thread support.
inline int init_mpi(int& argc, char**& argv, int wanted) {
  int level = 0;
  call_leaky_mpi([&] { MPI_Init_thread(&argc, &argv, wanted, &level); });
  return level;
}

}  // namespace poise
