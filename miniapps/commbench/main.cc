// SPDX-License-Identifier: BSD-3-Clause
// commbench on MPI.
#include "miniapps/commbench/commbench.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<commbench::Program>(argc, argv);
}
