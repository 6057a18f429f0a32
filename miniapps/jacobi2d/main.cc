// SPDX-License-Identifier: BSD-3-Clause
// jacobi2d on MPI.
#include "miniapps/jacobi2d/jacobi2d.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<jacobi2d::Program>(argc, argv);
}
