// SPDX-License-Identifier: BSD-3-Clause

/* Another tool that wraps MPI: each rank counts its calls of MPI_Isend. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++calls;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "the tool saw %d calls of rank %d\n", calls, rank);
  return PMPI_Finalize();
}
