// SPDX-License-Identifier: BSD-3-Clause
// The main function of tests under mpirun. Every rank runs all tests; rank 0 reports, other ranks
// print only failures, and all ranks exit with an error if a test fails on any of them.
#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/support/failures_only.h"

int main(int argc, char** argv) {
  int threads = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  testing::InitGoogleTest(&argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  poise::report_as(rank);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
