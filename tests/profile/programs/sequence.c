// SPDX-License-Identifier: BSD-3-Clause

/* The sequence of calls that paths_test.py expects, from C. Prints one line with what was received.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0, in[64] = {0}, out[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < 64; ++i) out[i] = rank + 1;
  MPI_Request requests[2], persistent;
  MPI_Status statuses[2];
  for (int i = 0; i < 10; ++i) {
    MPI_Irecv(in, 25, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 25, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    sum += in[24];
  }
  MPI_Sendrecv(out, 7, MPI_INT, left, 2, in, 7, MPI_INT, right, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  sum += in[6];

  MPI_Comm reversed;
  int other;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Comm_rank(reversed, &other);
  MPI_Send(out, 3, MPI_INT, (other + 1) % size, 3, reversed);
  MPI_Recv(in, 3, MPI_INT, (other + size - 1) % size, 3, reversed, MPI_STATUS_IGNORE);
  sum += in[2];
  MPI_Comm_free(&reversed);

  MPI_Send_init(out, 5, MPI_INT, right, 4, MPI_COMM_WORLD, &persistent);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&persistent);
    MPI_Recv(in, 5, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    sum += in[4];
  }
  MPI_Request_free(&persistent);
  MPI_Send(out, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);

  for (int i = 0; i < 50; ++i) in[i] = rank == 1 ? 7 : 0;
  MPI_Bcast(in, 50, MPI_INT, 1, MPI_COMM_WORLD);
  sum += in[49];
  MPI_Allreduce(MPI_IN_PLACE, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  sum += in[7];
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * size; ++i) sum += in[i];
  int all = 0;
  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", all);
  MPI_Finalize();
  return 0;
}
