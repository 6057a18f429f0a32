// SPDX-License-Identifier: BSD-3-Clause
// leanmd on MPI.
#include "miniapps/leanmd/leanmd.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<leanmd::Program>(argc, argv);
}
