// SPDX-License-Identifier: BSD-3-Clause
// limiter on MPI.
#include "miniapps/limiter/limiter.h"
#include "miniapps/on_mpi.h"

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  return run_on_mpi<limiter::Program>(argc, argv);
}
