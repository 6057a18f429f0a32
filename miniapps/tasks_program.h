// SPDX-License-Identifier: BSD-3-Clause
// The start and end that all mini-apps on tasks share: MPI, and the output of errors.
#pragma once

#include <iostream>
#include <mpi.h>

#include "poise/base/error.h"

namespace poise::miniapps {

/// Calls run() between MPI_Init_thread and MPI_Finalize. Returns its status or, if it throws an
/// Error, prints this error after the program's name and returns 2.
template <typename Run>
int run_under_mpi(const char* name, int& argc, char**& argv, const Run& run) {
  int level = 0, status = 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  try {
    status = run();
  } catch (const Error& error) {
    std::cerr << name << ": " << error.what() << '\n';
  }
  MPI_Finalize();
  return status;
}

}  // namespace poise::miniapps
