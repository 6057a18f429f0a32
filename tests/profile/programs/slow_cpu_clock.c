// SPDX-License-Identifier: BSD-3-Clause

/* A preloaded library that takes the core from a thread for 20 ms when it reads its CPU clock,
   unless that clock was last read at most 15 ms ago. Some kernels take the core away when a thread
   whose time slice is over reads this clock. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* now) {
  static struct timespec last;
  const int status = syscall(SYS_clock_gettime, clock, now);
  if (clock != CLOCK_THREAD_CPUTIME_ID) return status;
  struct timespec read;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &read);
  if ((read.tv_sec - last.tv_sec) * 1000000000L + read.tv_nsec - last.tv_nsec > 15000000)
    usleep(20000);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &last);
  return status;
}
