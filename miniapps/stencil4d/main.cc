// SPDX-License-Identifier: BSD-3-Clause
// stencil4d on MPI.
#include "miniapps/on_mpi.h"
#include "miniapps/stencil4d/stencil4d.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<stencil4d::Program>(argc, argv);
}
