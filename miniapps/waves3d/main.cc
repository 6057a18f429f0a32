// SPDX-License-Identifier: BSD-3-Clause
// waves3d on MPI.
#include "miniapps/on_mpi.h"
#include "miniapps/waves3d/waves3d.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<waves3d::Program>(argc, argv);
}
