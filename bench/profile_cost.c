// SPDX-License-Identifier: BSD-3-Clause

/* Times MPI calls that do little, on one rank: prints the nanoseconds of a call of each kind. With
   the arguments `program N` it prints the seconds of a loop that makes N additions between two
   calls, as a program would, and the calls in a second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Short rounds, so that some of them are not interrupted: the fastest counts. */
#define CALLS 200
#define ROUNDS 1000

#define MEASURE(name, ...)                             \
  do {                                                 \
    double best = 1e9;                                 \
    for (int round = 0; round < ROUNDS; ++round) {     \
      const double begin = seconds();                  \
      for (int i = 0; i < CALLS; ++i) __VA_ARGS__;     \
      const double each = (seconds() - begin) / CALLS; \
      if (each < best) best = each;                    \
    }                                                  \
    printf("%s %.2f\n", name, 1e9 * best);             \
  } while (0)

static void run_program(int additions) {
  enum { STEPS = 20000 };
  double own = 1, all = 0;
  volatile double sum = 0;
  const double begin = seconds();
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < additions; ++i) sum = sum + 1e-9;
    MPI_Sendrecv(&own, 1, MPI_DOUBLE, 0, 0, &all, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  const double taken = seconds() - begin;
  printf("loop_s %.6f\ncalls_per_s %.0f\n", taken, STEPS / taken);
}

int main(int argc, char** argv) {
  double own = 1, all = 0;
  int rank, flag;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  if (argc > 2 && !strcmp(argv[1], "program")) {
    run_program(atoi(argv[2]));
    MPI_Finalize();
    return 0;
  }
  MEASURE("comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MEASURE("send_to_null", MPI_Send(&own, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MEASURE("iprobe", MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  MEASURE("sendrecv_self", MPI_Sendrecv(&own, 1, MPI_DOUBLE, 0, 0, &all, 1, MPI_DOUBLE, 0, 0,
                                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MEASURE("irecv_isend_wait", { /* three calls */
                                MPI_Irecv(&all, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[0]);
                                MPI_Isend(&own, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[1]);
                                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  });
  MEASURE("allreduce_self", MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
  MEASURE("barrier_self", MPI_Barrier(MPI_COMM_SELF));
  MPI_Finalize();
  return 0;
}
