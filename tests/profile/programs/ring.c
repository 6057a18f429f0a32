// SPDX-License-Identifier: BSD-3-Clause
// Creates a ring with reorder = true, sends a number around it and prints what arrived.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, rank, from, to, arrived = -1, periodic = 1;
  MPI_Comm ring;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Cart_shift(ring, 0, 1, &from, &to);
  MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &arrived, 1, MPI_INT, from, 0, ring, MPI_STATUS_IGNORE);
  printf("rank %d of the ring received %d\n", rank, arrived);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
