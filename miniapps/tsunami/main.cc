// SPDX-License-Identifier: BSD-3-Clause
// tsunami on MPI.
#include "miniapps/on_mpi.h"
#include "miniapps/tsunami/tsunami.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<tsunami::Program>(argc, argv);
}
