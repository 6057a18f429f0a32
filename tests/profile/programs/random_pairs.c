// SPDX-License-Identifier: BSD-3-Clause

/* Point-to-point messages between random pairs, in all blocking and non-blocking modes, with
   derived datatypes, on the world and on a communicator of other order. Argument: the seed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long state;
static unsigned next(unsigned bound) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (unsigned)(state >> 33) % bound;
}

static void send(int mode, const void* data, int count, MPI_Datatype type, int to, MPI_Comm comm) {
  MPI_Request request;
  switch (mode) {
    case 0: MPI_Send(data, count, type, to, 0, comm); return;
    case 1: MPI_Ssend(data, count, type, to, 0, comm); return;
    case 2: MPI_Isend(data, count, type, to, 0, comm, &request); break;
    case 3: MPI_Issend(data, count, type, to, 0, comm, &request); break;
    default: MPI_Bsend(data, count, type, to, 0, comm); return;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  static char data[1 << 16], received[1 << 16], buffer[1 << 20];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
  MPI_Datatype strided;
  MPI_Type_vector(3, 2, 5, MPI_SHORT, &strided);
  MPI_Type_commit(&strided);
  state = (unsigned long)atoi(argv[1]);
  for (int i = 0; i < 300; ++i) { /* all ranks draw the same */
    const int from = (int)next((unsigned)size), to = (int)next((unsigned)size);
    const int mode = (int)next(5), is_turned = (int)next(2), is_strided = (int)next(2);
    const int count = (int)next(is_strided ? 400 : 9000);
    const MPI_Comm comm = is_turned ? turned : MPI_COMM_WORLD;
    const MPI_Datatype type = is_strided ? strided : MPI_CHAR;
    int own;
    MPI_Comm_rank(comm, &own);
    if (from == to) continue;
    if (own == from) send(mode, data, count, type, to, comm);
    if (own == to) MPI_Recv(received, count, type, from, 0, comm, MPI_STATUS_IGNORE);
  }
  int detached;
  void* address;
  MPI_Buffer_detach(&address, &detached);
  MPI_Type_free(&strided);
  MPI_Comm_free(&turned);
  MPI_Finalize();
  return 0;
}
