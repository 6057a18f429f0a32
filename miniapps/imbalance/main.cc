// SPDX-License-Identifier: BSD-3-Clause
// imbalance on MPI.
#include "miniapps/imbalance/imbalance.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<imbalance::Program>(argc, argv);
}
