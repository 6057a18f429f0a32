// SPDX-License-Identifier: BSD-3-Clause
// A library that makes ranks return late from MPI_Init_thread. The variable LATE_INIT_S gives the
// delay of each rank in seconds, as two digits per rank: digits 2r and 2r + 1 are for rank r.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int rank;
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* digits = getenv("LATE_INIT_S") + 2 * rank;
  sleep(10 * (digits[0] - '0') + digits[1] - '0');
  return result;
}
