// SPDX-License-Identifier: BSD-3-Clause

/* Prints which functions the MPI library has, as programs see it that are built for several MPIs:
   by weak references. It does not include mpi.h, which declares some of the functions only. */
#include <stdio.h>

int MPI_Init(void*, void*);
int MPI_Finalize(void);

#define CHECKED(f)                                                                  \
  f(MPI_Send) f(MPI_Send_c) f(MPI_Alltoallw_c) f(MPI_Isendrecv) f(MPI_Session_init) \
      f(MPI_Remove_error_class) f(MPI_Request_get_status_all)
#define DECLARE(name) int name(void) __attribute__((weak));
#define PRINT(name) printf("%s %d\n", #name, name != 0);

CHECKED(DECLARE)

int main(void) {
  MPI_Init(0, 0);
  CHECKED(PRINT)
  MPI_Finalize();
  return 0;
}
