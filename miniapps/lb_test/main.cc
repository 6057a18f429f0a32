// SPDX-License-Identifier: BSD-3-Clause
// lb_test on MPI.
#include "miniapps/lb_test/lb_test.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<lb_test::Program>(argc, argv);
}
