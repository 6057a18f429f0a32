// SPDX-License-Identifier: BSD-3-Clause

/* What programs do to a profiler. Each mode sends a known number of messages and bytes from rank 1
   to rank 0 and prints "right" on rank 0 if they arrived. Argument: the mode. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PIECES = 32769,
  PIECE = 65536,
  THREADS = 4,
  EACH = 200,
  COMMUNICATORS = 5000,
  ALIVE = 500,
  LABELS = 5000,
  LATE = 20
};

static int rank, sum = 0;

/* Rank 1 sends an int to rank 0 in `comm`. */
static void send_one(MPI_Comm comm) {
  int data = 1;
  if (rank == 1) MPI_Send(&data, 1, MPI_INT, 0, 7, comm);
  if (rank == 0) {
    MPI_Recv(&data, 1, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE);
    sum += data;
  }
}

static int communicators(void) {
  static MPI_Comm alive[ALIVE];
  for (int i = 0; i < COMMUNICATORS; ++i) {
    MPI_Comm* comm = &alive[i % ALIVE];
    if (i >= ALIVE) MPI_Comm_free(comm);
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    send_one(*comm);
  }
  for (int i = 0; i < ALIVE; ++i) MPI_Comm_free(&alive[i]);
  return sum == COMMUNICATORS;
}

/* Rank 0 cancels a receive. It does not wait for the request, because that may take long on a busy
 * machine. */
static void cancel(void) {
  int data;
  MPI_Request request;
  if (rank != 0) return;
  MPI_Irecv(&data, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Request_free(&request);
}

/* Rank 1 fetches 3, 1 and 1 ints from rank 0, and sends none, 1 and 1 with these requests. */
static int fetching(void) {
  enum { INTS = 64 };
  int *base, old[3] = {0}, one = 1, six = 6, nine = 9, is_right = 1;
  MPI_Win window;
  MPI_Win_allocate(INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  for (int i = 0; i < INTS; ++i) base[i] = 5;
  MPI_Win_fence(0, window);
  if (rank == 1)
    MPI_Get_accumulate(NULL, 0, MPI_INT, old, 3, MPI_INT, 0, 2, 3, MPI_INT, MPI_NO_OP, window);
  MPI_Win_fence(0, window);
  is_right = rank != 1 || (old[0] == 5 && old[2] == 5);
  if (rank == 1) MPI_Fetch_and_op(&one, old, MPI_INT, 0, 2, MPI_SUM, window);
  MPI_Win_fence(0, window);
  if (rank == 1) MPI_Compare_and_swap(&nine, &six, old + 1, MPI_INT, 0, 2, window);
  MPI_Win_fence(0, window);
  is_right = is_right && (rank == 1 ? old[0] == 5 && old[1] == 6 : base[2] == 9);
  MPI_Win_free(&window);
  if (is_right) send_one(MPI_COMM_WORLD);
  return sum == 1;
}

/* Rank 0 waits for messages that rank 1 sends late. */
static int late(void) {
  for (int i = 0; i < LATE; ++i) {
    if (rank == 1) usleep(5000);
    send_one(MPI_COMM_WORLD);
  }
  return sum == LATE;
}

/* A message of more than 2^31 bytes that needs little memory, because its pieces overlap. */
static int large(void) {
  MPI_Datatype overlapping;
  char* piece = calloc(PIECE, 1);
  MPI_Type_vector(PIECES, PIECE, 0, MPI_BYTE, &overlapping);
  MPI_Type_commit(&overlapping);
  if (rank == 1) piece[5] = 9;
  if (rank == 1) MPI_Send(piece, 1, overlapping, 0, 7, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(piece, 1, overlapping, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int is_right = piece[5] == 9;
  MPI_Type_free(&overlapping);
  free(piece);
  return is_right;
}

static void* exchange(void* tag) {
  for (int i = 0; i < EACH; ++i) {
    int data = i;
    if (rank == 1) MPI_Send(&data, 1, MPI_INT, 0, *(int*)tag, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&data, 1, MPI_INT, 1, *(int*)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data != i) *(int*)tag = -1;
  }
  return NULL;
}

static int threads(void) {
  pthread_t all[THREADS];
  int tags[THREADS], is_right = 1;
  for (int t = 0; t < THREADS; ++t) {
    tags[t] = t;
    pthread_create(&all[t], NULL, exchange, &tags[t]);
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(all[t], NULL);
    is_right = is_right && tags[t] == t;
  }
  return is_right;
}

static void* synchronise_and_free(void* comm) {
  MPI_Barrier(*(MPI_Comm*)comm);
  MPI_Comm_free((MPI_Comm*)comm);
  return NULL;
}

/* In rank 1 another thread than in the other ranks calls the collectives. */
static int another_thread(void) {
  MPI_Comm comm;
  pthread_t other;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 1) {
    pthread_create(&other, NULL, synchronise_and_free, &comm);
    pthread_join(other, NULL);
  } else {
    synchronise_and_free(&comm);
  }
  send_one(MPI_COMM_WORLD);
  return sum == (rank == 0);
}

/* A broadcast that succeeds on rank 0 and fails on rank 1, which has too little memory for it. */
static int failing(void) {
  int data[2] = {0, 0};
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Bcast(data, rank == 1 ? 1 : 2, MPI_INT, 0, comm);
  send_one(MPI_COMM_WORLD);
  return sum == (rank == 0);
}

/* Rank 1 frees a communicator only when it has a message that rank 0 sends after it has freed the
 * communicator. */
static int free_first(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  if (rank == 0) MPI_Comm_free(&comm);
  if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&sum, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Comm_free(&comm);
  send_one(MPI_COMM_WORLD);
  return sum == (rank == 0);
}

static jmp_buf before_call;
static void jump(MPI_Comm* comm, int* error, ...) { longjmp(before_call, 1); }

static void send_to_nobody(void) {
  char data[999] = {0}; /* a long stack frame: later calls must not seem to be nested in this one */
  MPI_Send(data, sizeof data, MPI_CHAR, -77, 7, MPI_COMM_WORLD);
}

static void broadcast_too_much(MPI_Comm comm) {
  int data[999] = {0}; /* a long stack frame: later calls must not seem to be nested in this one */
  MPI_Bcast(data, rank == 1 ? 1 : 2, MPI_INT, 0, comm);
}

/* Rank 1 jumps out of a broadcast, which succeeds on rank 0. */
static int jumping_from_one_rank(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  volatile int jumps = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  if (setjmp(before_call) == 0)
    broadcast_too_much(comm);
  else
    ++jumps;
  send_one(MPI_COMM_WORLD);
  return jumps == rank && sum == (rank == 0);
}

static int jumping(void) {
  MPI_Errhandler handler;
  volatile int jumps = 0;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(before_call) == 0)
    send_to_nobody();
  else
    ++jumps;
  send_one(MPI_COMM_WORLD);
  return jumps == 1 && sum == (rank == 0);
}

static int labels(void) {
  for (int i = 1; i <= LABELS; ++i) {
    char name[20];
    snprintf(name, sizeof name, "step %d", i);
    MPI_Pcontrol(-1, name);
  }
  send_one(MPI_COMM_WORLD);
  return sum == (rank == 0);
}

/* Calls collectives only while the program starts. */
static void start_with_collectives(void) {
  for (int i = 0; i < 8; ++i) MPI_Barrier(MPI_COMM_WORLD);
  usleep(3000000); /* far longer than a busy machine may delay the barriers */
}

static void finalize(void) { MPI_Finalize(); }

/* A reduction over these ranks and the spawned process, on a communicator that is never freed. */
static void reduce_with(MPI_Comm others) {
  MPI_Comm all;
  int one = 1, count;
  MPI_Intercomm_merge(others, 0, &all);
  MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, all);
}

static int spawn(char* program, const char* mode) {
  MPI_Comm parent, child;
  int data = 0;
  char* arguments[] = {(char*)mode, NULL};
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Recv(&data, 1, MPI_INT, 0, 2, parent, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 0, 3, parent);
    if (!strcmp(mode, "spawn_merged")) reduce_with(parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    exit(0);
  }
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                 MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    int sent = 5;
    MPI_Send(&sent, 1, MPI_INT, 0, 2, child);
    MPI_Recv(&data, 1, MPI_INT, 0, 3, child, MPI_STATUS_IGNORE);
  }
  if (!strcmp(mode, "spawn_merged")) reduce_with(child);
  send_one(MPI_COMM_WORLD);
  MPI_Comm_disconnect(&child);
  return data == 5 && sum == 1;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int provided, size, is_right = 1;
  const int level = !strcmp(mode, "threads")          ? MPI_THREAD_MULTIPLE
                    : !strcmp(mode, "serialized")     ? MPI_THREAD_SERIALIZED
                    : !strcmp(mode, "another_thread") ? MPI_THREAD_SERIALIZED
                    : !strcmp(mode, "funneled")       ? MPI_THREAD_FUNNELED
                                                      : MPI_THREAD_SINGLE;
  if (!strcmp(mode, "exit")) atexit(finalize);
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(mode, "_exit")) _exit(3);
  if (!strcmp(mode, "abort_first")) rank == 0 ? MPI_Abort(MPI_COMM_WORLD, 7) : pause();
  if (!strcmp(mode, "starting")) start_with_collectives();
  if (size > 1 || !strncmp(mode, "spawn", 5)) {
    if (!strcmp(mode, "communicators"))
      is_right = communicators();
    else if (!strcmp(mode, "large"))
      is_right = large();
    else if (!strcmp(mode, "threads"))
      is_right = provided < MPI_THREAD_MULTIPLE || threads();
    else if (!strcmp(mode, "cancel_first"))
      cancel(), is_right = late();
    else if (!strcmp(mode, "cancel_last"))
      is_right = late(), cancel();
    else if (!strcmp(mode, "another_thread"))
      is_right = provided < MPI_THREAD_SERIALIZED || another_thread();
    else if (!strcmp(mode, "failing"))
      is_right = failing();
    else if (!strcmp(mode, "fetching"))
      is_right = fetching();
    else if (!strcmp(mode, "free_first"))
      is_right = free_first();
    else if (!strcmp(mode, "jumping"))
      is_right = jumping();
    else if (!strcmp(mode, "jumping_from_one_rank"))
      is_right = jumping_from_one_rank();
    else if (!strcmp(mode, "labels"))
      is_right = labels();
    else if (!strncmp(mode, "spawn", 5))
      is_right = spawn(argv[0], mode);
    else
      send_one(MPI_COMM_WORLD);
  }
  if (rank == 0) printf(is_right ? "right\n" : "wrong\n"), fflush(stdout);
  if (!strcmp(mode, "exit")) return 0;
  MPI_Finalize();
  if (!strcmp(mode, "exec")) execlp("true", "true", NULL);
  return 0;
}
