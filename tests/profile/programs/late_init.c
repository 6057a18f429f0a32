// SPDX-License-Identifier: BSD-3-Clause
// A library that makes rank 1 return late from MPI_Init_thread: after the seconds in LATE_INIT_S.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int rank;
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) sleep(atoi(getenv("LATE_INIT_S")));
  return result;
}
