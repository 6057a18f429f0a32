// SPDX-License-Identifier: BSD-3-Clause
// nbody on MPI.
#include "miniapps/nbody/nbody.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<nbody::Program>(argc, argv);
}
