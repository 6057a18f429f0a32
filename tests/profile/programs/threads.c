// SPDX-License-Identifier: BSD-3-Clause

/* Each rank computes on two threads that are bound to its first cpu: 300 ms of cpu time on the
   initial thread, 150 ms on the other one, which still exists at MPI_Finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static pthread_barrier_t computed, finished;

static void bind(void) {
  cpu_set_t all, first;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&first);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &first);
      break;
    }
  sched_setaffinity(0, sizeof first, &first);
}

static void compute(double seconds) {
  struct timespec now;
  bind();
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec + 1e-9 * now.tv_nsec < seconds);
}

static void* worker(void* unused) {
  compute(0.15);
  pthread_barrier_wait(&computed);
  pthread_barrier_wait(&finished);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  MPI_Init(&argc, &argv);
  pthread_barrier_init(&computed, NULL, 2);
  pthread_barrier_init(&finished, NULL, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_create(&thread, NULL, worker, NULL);
  compute(0.3);
  pthread_barrier_wait(&computed);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  pthread_barrier_wait(&finished);
  return pthread_join(thread, NULL);
}
