/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a copy of a communicator as an attribute of it. The callback of the attribute frees the
 * copy, as in mpi4py. */
#include <mpi.h>
#include <stdlib.h>

static int free_copy(MPI_Comm communicator, int key, void* copy, void* unused) {
  (void)communicator, (void)key, (void)unused;
  MPI_Comm_free((MPI_Comm*)copy);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int key, sum = 0, one = 1;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_copy, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &copy);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
  MPI_Finalize();
  return sum > 0 ? 0 : 1;
}
