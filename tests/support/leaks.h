// Leaks of a program with MPI, looked for while the parts of MPI are still loaded and have names.
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

/// Ends the process with an error if memory was lost; does nothing without the address sanitizer.
/// To be called before MPI_Finalize; instead of the check at the end.
inline void check_leaks() {
#ifdef POISE_LOOKS_FOR_LEAKS
  __lsan_do_leak_check();
#endif
}

/// What MPI_Init_thread takes and never gives back is no leak of ours, and the parts of MPI that
/// took it are partly unloaded and nameless when it ends.
inline int init_mpi(int& argc, char**& argv, int wanted) {
  int level = 0;
#ifdef POISE_LOOKS_FOR_LEAKS
  const __lsan::ScopedDisabler nobody_looks;
#endif
  MPI_Init_thread(&argc, &argv, wanted, &level);
  return level;
}

}  // namespace poise
