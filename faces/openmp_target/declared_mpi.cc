// SPDX-License-Identifier: BSD-3-Clause
// A program with a `declare target` variable, which may differ between ranks: its regions must run
// on their own rank, and a message must say so.
#include <chameleon.h>
#include <cstdio>
#include <mpi.h>

#pragma omp begin declare target
int counter = 1;
#pragma omp end declare target

int main(int argc, char** argv) {
  int level = 0, x = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (chameleon_init() != CHAM_SUCCESS) return 1;
#pragma omp target map(tofrom : x) device(1002)
  {
    counter += 1;
    x += counter;
  }
  const bool at_once = x == 3 && counter == 2;
  chameleon_distributed_taskwait(0);
  chameleon_finalize();
  MPI_Finalize();
  if (!at_once) std::printf("the region was put off, or does not see the variable\n");
  return at_once ? 0 : 1;
}
