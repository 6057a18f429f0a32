// SPDX-License-Identifier: BSD-3-Clause
// kneighbor on MPI.
#include "miniapps/kneighbor/kneighbor.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<kneighbor::Program>(argc, argv);
}
