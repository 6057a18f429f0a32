// SPDX-License-Identifier: BSD-3-Clause

// In each of 20 rounds, rank 1 is late by 20 ms. The argument says what the ranks do in a round:
// - sender: rank 1 sends to ranks 0 and 2, which receive by MPI_Recv
// - waitall: as sender, but ranks 0 and 2 receive by MPI_Irecv and MPI_Waitall, together with a
//   message that they send to each other
// - any: as sender, but ranks 0 and 2 receive by MPI_Irecv from any source
// - probe: as sender, but ranks 0 and 2 call MPI_Probe before MPI_Recv
// - persistent, persistent_any, persistent_some: as sender, but ranks 0 and 2 receive by a
//   persistent request, MPI_Start, and MPI_Wait, MPI_Waitany or MPI_Waitsome
// - receiver: ranks 0 and 2 send 4 MiB to rank 1, so they must wait for rank 1 (rendezvous)
// - eager: ranks 0 and 2 send one byte to rank 1
// - polled: as sender, but ranks 0 and 2 sleep and call MPI_Test until the message arrives
// - polled_test, polled_some: as polled, but without sleeping, and by MPI_Test or MPI_Testsome
// - polled_probe, polled_irecv, polled_mprobe: as polled_test, but by MPI_Iprobe and then MPI_Recv,
//   by MPI_Iprobe and then MPI_Irecv, or by MPI_Improbe
// - polled_nothing: as polled_test, but before each MPI_Test, the ranks also poll without a request
//   (no requests or MPI_REQUEST_NULL)
// - chain: each rank receives from the rank before it, sleeps 20 ms and sends to the rank after it;
//   in the first round, rank 0 sleeps 400 ms
// - split: as sender, on a communicator that each round creates and frees
// - inter: as sender, but on an intercommunicator with the groups {1} and {0, 2}; every second
//   round uses a duplicate of it
// - inter_barrier: ranks call MPI_Barrier on the intercommunicator
// - grid, igrid: all ranks call MPI_Neighbor_allgather on the grid 0 - 1 - 2, or
//   MPI_Ineighbor_allgather and MPI_Wait
// - nonblocking: ranks wait by one call for two non-blocking collectives and for a message
// - graph, igraph: as grid, but rank 0 receives only from rank 1, and rank 2 only from rank 0
// - iscan: ranks call MPI_Iscan and wait for it
// - idup: ranks call MPI_Comm_idup and wait for it
// - post: ranks 0 and 2 put data into the window of rank 1, which is late to call MPI_Win_post
// - complete: rank 1 puts data into the windows of ranks 0 and 2, and calls MPI_Win_complete late;
//   ranks 0 and 2 wait for this call
// - thread: as sender, while a second thread of each rank does what `complete` says
// - init: ranks start two persistent collectives, rank 0 in another order, and wait for both
// - init_scan: ranks start MPI_Scan_init and wait by MPI_Waitany
// - init_grid: as grid, but by MPI_Neighbor_allgather_init, MPI_Startall and MPI_Waitsome
// - version: the program ends with the version of MPI as its exit status
// - polled_scan: as iscan, but the ranks call MPI_Test until the scan is complete
// - win_test: as complete, but ranks 0 and 2 sleep and call MPI_Win_test
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 20
#define LARGE (4 << 20)

/* for how long the late rank sleeps in a round; the environment variable LATE_US changes it */
static useconds_t late_us = 20000;

static void receive(const char* what, int rank, MPI_Comm comm, int round, MPI_Request* persistent) {
  int data = -1, other = -1, flag = 0, index;
  MPI_Status status;
  MPI_Request requests[3];
  if (!strcmp(what, "waitall")) {
    const int neighbour = 2 - rank;
    MPI_Irecv(&data, 1, MPI_INT, 1, 5, comm, &requests[0]);
    MPI_Irecv(&other, 1, MPI_INT, neighbour, 6, comm, &requests[1]);
    MPI_Isend(&round, 1, MPI_INT, neighbour, 6, comm, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  } else if (!strcmp(what, "any")) {
    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else if (!strcmp(what, "probe")) {
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Recv(&data, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  } else if (!strncmp(what, "persistent", 10)) {
    int index;
    MPI_Start(persistent);
    if (!what[10])
      MPI_Wait(persistent, MPI_STATUS_IGNORE);
    else if (what[11] == 'a')
      MPI_Waitany(1, persistent, &index, MPI_STATUS_IGNORE);
    else
      MPI_Waitsome(1, persistent, &flag, &index, MPI_STATUSES_IGNORE);
    return;
  } else if (!strcmp(what, "polled")) {
    MPI_Irecv(&data, 1, MPI_INT, 1, 5, comm, &requests[0]);
    while (!flag) {
      usleep(200);
      MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    }
  } else if (!strcmp(what, "polled_test") || !strcmp(what, "polled_some")) {
    MPI_Irecv(&data, 1, MPI_INT, 1, 5, comm, &requests[0]);
    while (!flag)
      if (what[7] == 't')
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      else
        MPI_Testsome(1, requests, &flag, &index, MPI_STATUSES_IGNORE);
  } else if (!strcmp(what, "polled_nothing")) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Irecv(&data, 1, MPI_INT, 1, 5, comm, &requests[0]);
    while (!flag) {
      MPI_Testany(0, NULL, &index, &other, MPI_STATUS_IGNORE);
      MPI_Testsome(1, &none, &other, &index, MPI_STATUSES_IGNORE);
      MPI_Testall(1, &none, &other, MPI_STATUSES_IGNORE);
      MPI_Test(&none, &other, MPI_STATUS_IGNORE);
      MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    }
  } else if (!strcmp(what, "polled_mprobe")) {
    MPI_Message message;
    while (!flag) MPI_Improbe(1, 5, comm, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else if (!strncmp(what, "polled_", 7)) {
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    if (what[7] == 'p') {
      MPI_Recv(&data, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Irecv(&data, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Recv(&data, 1, MPI_INT, 1, 5, comm, MPI_STATUS_IGNORE);
  }
  if (data != round) fprintf(stderr, "rank %d got %d in round %d\n", rank, data, round), exit(4);
}

static MPI_Comm topology(const char* what, int rank) {
  MPI_Comm comm;
  const int ranks = 3, is_periodic = 0;
  const int source = rank == 0 ? 1 : 0, to = rank == 0 ? 2 : 0;
  if (strstr(what, "grid"))
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &is_periodic, 0, &comm);
  else
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank != 1, &source, MPI_UNWEIGHTED, rank != 2,
                                   &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

/* An epoch in which ranks 0 and 2 access the window of rank 1, or rank 1 theirs. */
static void use_window(const char* what, int rank, int round) {
  static MPI_Win window;
  static int* data;
  const int late = 1, others[2] = {0, 2}, is_late_exposed = !strcmp(what, "post");
  int flag = 0;
  MPI_Group all, partners;
  if (round ==
      0)  // MPICH 4.0.2: MPI_Put writes outside a window whose size is no multiple of 16 bytes.
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &data, &window);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (rank == 1)
    MPI_Group_incl(all, 2, others, &partners);
  else
    MPI_Group_incl(all, 1, &late, &partners);
  if (rank == 1 && is_late_exposed) usleep(late_us);
  if ((rank == 1) == is_late_exposed) {
    MPI_Win_post(partners, 0, window);
    while (!strcmp(what, "win_test") && !flag) {
      usleep(200);
      MPI_Win_test(window, &flag);
    }
    if (!flag) MPI_Win_wait(window);
  } else {
    MPI_Win_start(partners, 0, window);
    for (int to = rank == 1 ? 0 : 1; to < 3; to += 2)
      MPI_Put(&round, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    if (rank == 1) usleep(late_us);
    MPI_Win_complete(window);
  }
  const int from = is_late_exposed ? 0 : 1;
  if ((rank == 1) == is_late_exposed && data[from] != round)
    fprintf(stderr, "rank %d got %d in round %d\n", rank, data[from], round), exit(4);
  MPI_Group_free(&all);
  MPI_Group_free(&partners);
  if (round + 1 == ROUNDS) MPI_Win_free(&window);
}

static int own_rank, current_round;  // of `thread`

static void* use_window_in_thread(void* argument) {
  use_window("complete", own_rank, current_round);
  return argument;
}

static void start_collectives(const char* what, int rank, int round) {
#if MPI_VERSION >= 4
  static MPI_Request requests[2];
  static MPI_Comm grid;
  static int own, all[2];
  int index, count;
  if (round == 0 && !strcmp(what, "init_grid")) {
    grid = topology("grid", rank);
    MPI_Neighbor_allgather_init(&own, 1, MPI_INT, all, 1, MPI_INT, grid, MPI_INFO_NULL, requests);
    MPI_Comm_free(&grid);
  } else if (round == 0 && !strcmp(what, "init_scan")) {
    MPI_Scan_init(&own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  } else if (round == 0) {
    MPI_Allreduce_init(&own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests + 1);
  }
  if (rank == 1) usleep(late_us);
  if (!strcmp(what, "init_grid")) {
    MPI_Startall(1, requests);
    MPI_Waitsome(1, requests, &count, &index, MPI_STATUSES_IGNORE);
  } else if (!strcmp(what, "init_scan")) {
    MPI_Start(requests);
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
  } else {
    MPI_Start(requests + (rank == 0));
    MPI_Start(requests + (rank != 0));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (round + 1 < ROUNDS) return;
  MPI_Request_free(requests);
  if (!strcmp(what, "init")) MPI_Request_free(requests + 1);
#endif
}

static void begin_and_wait(const char* what, int rank, int round) {
  int all, flag = 0;
  MPI_Comm made;
  MPI_Request request;
  if (rank == 1) usleep(late_us);
  if (what[1] != 'd')
    MPI_Iscan(&round, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  else
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  while (what[0] == 'p' && !flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (what[1] == 'd') MPI_Comm_free(&made);
}

static void use_intercommunicator(const char* what, int rank, int round) {
  static MPI_Comm local, made[2];
  int data = round;
  if (round == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank == 1 ? 0 : 1, 7, &made[0]);
    MPI_Comm_dup(made[0], &made[1]);
  }
  if (rank == 1) usleep(late_us);
  if (!strcmp(what, "inter_barrier"))
    MPI_Barrier(made[0]);
  else if (rank == 1)
    for (int to = 0; to < 2; ++to) MPI_Send(&round, 1, MPI_INT, to, 5, made[round % 2]);
  else
    MPI_Recv(&data, 1, MPI_INT, round % 3 ? 0 : MPI_ANY_SOURCE, 5, made[round % 2],
             MPI_STATUS_IGNORE);
  if (data != round) fprintf(stderr, "rank %d got %d in round %d\n", rank, data, round), exit(4);
  if (round + 1 < ROUNDS) return;
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&made[i]);
  MPI_Comm_free(&local);
}

static void begin_several_and_wait(int rank, int round) {
  static MPI_Comm another;
  int all, data;
  MPI_Request requests[4];
  if (round == 0) MPI_Comm_dup(MPI_COMM_WORLD, &another);
  if (rank == 1) usleep(late_us);
  MPI_Iallreduce(&round, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(another, &requests[1]);
  MPI_Irecv(&data, 1, MPI_INT, (rank + 2) % 3, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&round, 1, MPI_INT, (rank + 1) % 3, 5, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (round + 1 == ROUNDS) MPI_Comm_free(&another);
}

static void with_thread(int rank, int size, int round, MPI_Request* persistent);

static void one_round(const char* what, int rank, int size, int round, char* large,
                      MPI_Request* persistent) {
  static MPI_Comm another = MPI_COMM_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (!strncmp(what, "init", 4)) {
    start_collectives(what, rank, round);
    return;
  }
  if (!strcmp(what, "thread")) {
    with_thread(rank, size, round, persistent);
    return;
  }
  if (strstr(what, "gr")) {
    int all[2];
    if (round == 0) another = topology(what, rank);
    if (rank == 1) usleep(late_us);
    if (what[0] == 'i') {
      MPI_Request request;
      MPI_Ineighbor_allgather(&round, 1, MPI_INT, all, 1, MPI_INT, another, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
      MPI_Neighbor_allgather(&round, 1, MPI_INT, all, 1, MPI_INT, another);
    return;
  }
  if (!strcmp(what, "post") || !strcmp(what, "complete") || !strcmp(what, "win_test")) {
    use_window(what, rank, round);
    return;
  }
  if (!strncmp(what, "inter", 5)) {
    use_intercommunicator(what, rank, round);
    return;
  }
  if (!strcmp(what, "iscan") || !strcmp(what, "polled_scan") || !strcmp(what, "idup")) {
    begin_and_wait(what, rank, round);
    return;
  }
  if (!strcmp(what, "nonblocking")) {
    begin_several_and_wait(rank, round);
    return;
  }
  if (!strcmp(what, "split")) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  if (!strcmp(what, "chain")) {
    if (rank > 0) MPI_Recv(&round, 1, MPI_INT, rank - 1, 5, comm, MPI_STATUS_IGNORE);
    usleep(rank == 0 && round == 0 ? ROUNDS * late_us : late_us);
    if (rank + 1 < size) MPI_Send(&round, 1, MPI_INT, rank + 1, 5, comm);
    return;
  }
  const int is_large = !strcmp(what, "receiver"), is_to_late = is_large || !strcmp(what, "eager");
  if (rank == 1) {
    usleep(late_us);
    for (int other = 0; other < 3; other += 2)
      if (is_to_late)
        MPI_Recv(large, is_large ? LARGE : 1, MPI_CHAR, other, 5, comm, MPI_STATUS_IGNORE);
      else
        MPI_Send(&round, 1, MPI_INT, other, 5, comm);
  } else if (is_to_late) {
    MPI_Send(large, is_large ? LARGE : 1, MPI_CHAR, 1, 5, comm);
  } else {
    receive(what, rank, comm, round, persistent);
  }
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
}

static void with_thread(int rank, int size, int round, MPI_Request* persistent) {
  pthread_t thread;
  own_rank = rank;
  current_round = round;
  pthread_create(&thread, NULL, use_window_in_thread, NULL);
  one_round("sender", rank, size, round, NULL, persistent);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "sender";
  int rank, size, data, level;
  MPI_Request persistent;
  char* large = calloc(1, LARGE);
  if (!strcmp(what, "version")) return MPI_VERSION;
  if (getenv("LATE_US")) late_us = atoi(getenv("LATE_US"));
  MPI_Init_thread(&argc, &argv, strcmp(what, "thread") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Recv_init(&data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &persistent);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; ++round) {
    one_round(what, rank, size, round, large, &persistent);
    if (strcmp(what, "chain")) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&persistent);
  MPI_Finalize();
  free(large);
  return 0;
}
