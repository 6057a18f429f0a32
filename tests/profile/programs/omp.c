// SPDX-License-Identifier: BSD-3-Clause

/* Two OpenMP threads, of which the first needs 30 ms for its part of each loop and the second 10
   ms. They sleep, so that other programs on the machine do not disturb them. */
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) {
#pragma omp parallel num_threads(2)
    usleep(omp_get_thread_num() == 0 ? 30000 : 10000);
    usleep(20000); /* outside of regions no thread is late */
  }
  MPI_Finalize();
  return 0;
}
