// SPDX-License-Identifier: BSD-3-Clause
// A library that makes ranks return late from MPI_Init_thread. The variable LATE_INIT_S gives the
// delay of each rank in seconds, as two digits per rank: digits 2r and 2r + 1 are for rank r. The
// clock runs ten times as fast as usual, so that time limits and delays take a tenth of their time.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPEED = 10, BILLION = 1000000000 };

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int64_t start;  // real time of the process's first call, in ns; the same for all threads
  const int status = syscall(SYS_clock_gettime, clock, now);
  if (status != 0 || clock != CLOCK_MONOTONIC) return status;
  const int64_t real_ns = (int64_t)now->tv_sec * BILLION + now->tv_nsec;
  int64_t none = 0;
  __atomic_compare_exchange_n(&start, &none, real_ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  const int64_t fast_ns = start + SPEED * (real_ns - start);
  now->tv_sec = fast_ns / BILLION;
  now->tv_nsec = fast_ns % BILLION;
  return 0;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int rank;
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* digits = getenv("LATE_INIT_S") + 2 * rank;
  usleep((10 * (digits[0] - '0') + digits[1] - '0') * (1000000 / SPEED));
  return result;
}
