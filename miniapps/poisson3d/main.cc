// SPDX-License-Identifier: BSD-3-Clause
// poisson3d on MPI.
#include "miniapps/on_mpi.h"
#include "miniapps/poisson3d/poisson3d.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<poisson3d::Program>(argc, argv);
}
