// SPDX-License-Identifier: BSD-3-Clause

/* Rank 1 sleeps 20 ms before each of 20 collectives. Argument: allreduce, bcast (from 0 or 1),
   reduce (to 0 or 1), scan, exscan, a function that all ranks of a communicator, window or file
   call, pcontrol or uneven (only rank 0 calls MPI_Pcontrol), abort, exit, or kill: how the program
   ends after them. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rank 1 is late in one of the calls that create, use and free a window. */
static void use_window(const char* what, int is_late) {
  MPI_Win window;
  double data = 0;
  if (is_late && !strcmp(what, "win_create")) usleep(20000);
  MPI_Win_create(&data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (is_late && !strcmp(what, "win_fence")) usleep(20000);
  MPI_Win_fence(0, window);
  if (is_late && !strcmp(what, "win_free")) usleep(20000);
  MPI_Win_free(&window);
}

/* Rank 1 is late in one of the calls that open, use and close a file. The file is beside the
   profile. */
static void use_file(const char* what, int rank, int is_late) {
  MPI_File file;
  char name[999];
  double data = 0;
  snprintf(name, sizeof name, "%s.data", getenv("POISE_PROFILE"));
  if (is_late && !strcmp(what, "file_open")) usleep(20000);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (is_late && !strcmp(what, "file_write")) usleep(20000);
  MPI_File_write_at_all(file, 8 * rank, &data, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
  if (is_late && !strcmp(what, "file_close")) usleep(20000);
  MPI_File_close(&file);
}

static void make_communicator(const char* what) {
  MPI_Comm other;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (!strcmp(what, "make_dup"))
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
  else if (!strcmp(what, "make_split"))
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &other);
  else
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &other);
  MPI_Group_free(&all);
  MPI_Comm_free(&other);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "allreduce";
  int rank;
  double own = 1, all = 0;
  MPI_Comm merged;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(what, "merged")) {
    MPI_Comm part, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0, 9, &both);
    MPI_Intercomm_merge(both, rank > 0, &merged);
  }
  for (int i = 0; i < 20; ++i) {
    if (!strncmp(what, "win", 3)) {
      use_window(what, rank == 1);
      continue;
    }
    if (!strncmp(what, "file", 4)) {
      use_file(what, rank, rank == 1);
      continue;
    }
    if (rank == 1) usleep(20000);
    if (!strncmp(what, "make", 4))
      make_communicator(what);
    else if (!strcmp(what, "bcast0"))
      MPI_Bcast(&own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else if (!strcmp(what, "bcast1"))
      MPI_Bcast(&own, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    else if (!strcmp(what, "reduce0"))
      MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (!strcmp(what, "scan"))
      MPI_Scan(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(what, "exscan"))
      MPI_Exscan(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(what, "merged"))
      MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, merged);
    else if (!strcmp(what, "freed") || !strcmp(what, "group")) {
      MPI_Comm other;
      if (!strcmp(what, "group")) {
        MPI_Group all;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &other);
        MPI_Group_free(&all);
      } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
      }
      if (rank == 1) usleep(20000);
      MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, other);
      MPI_Comm_free(&other);
    } else
      MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(what, "pcontrol")) {
      if (i % 10 == 4) MPI_Pcontrol(-1, "solve");
      if (i % 10 == 9) MPI_Pcontrol(2);
    }
  }
  if (!strcmp(what, "uneven") && rank == 0) MPI_Pcontrol(1);
  if (rank == 0) printf("before the end\n"), fflush(stdout);
  if (!strcmp(what, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strcmp(what, "exit")) exit(3);
  if (!strcmp(what, "_exit")) _exit(3);
  if (!strcmp(what, "kill") && rank == 1) raise(SIGKILL);
  if (!strcmp(what, "kill")) sleep(30);
  MPI_Finalize();
  return !strcmp(what, "status") ? 5 : 0;
}
