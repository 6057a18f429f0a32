// SPDX-License-Identifier: BSD-3-Clause

/* Tests poise_plan_distributed() under a launcher, called as users call it. If the number of tasks
   per rank and of messages per task are given as arguments, measures the memory of the decision
   instead. Prints failed checks and exits with status 1. */
#include <poise/poise.h>
#include <poise/poise_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, num_ranks, wrong;
static poise_mpi mpi;
static poise_communication ranks;

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "rank %d: does not hold: %s (%s)\n", rank, what, poise_last_error());
}

/* Describes a ring of tasks over all ranks. Each task sends to the `degree` tasks after it and to
   the `degree` tasks before it. */
typedef struct Ring {
  poise_own_tasks own;
  uint64_t *ids, *bytes, *indptr, *neighbours, *message_bytes;
  uint32_t* neighbour_ranks;
  double* load_s;
} Ring;

static Ring ring_of(uint64_t tasks_per_rank, uint64_t degree, int knows_ranks) {
  const uint64_t n = tasks_per_rank, all = n * (uint64_t)num_ranks, edges = n * 2 * degree;
  uint64_t t, k, e = 0;
  Ring ring;
  memset(&ring, 0, sizeof ring);
  ring.ids = malloc(n * sizeof(uint64_t));
  ring.bytes = malloc(n * sizeof(uint64_t));
  ring.load_s = malloc(n * sizeof(double));
  ring.indptr = malloc((n + 1) * sizeof(uint64_t));
  ring.neighbours = malloc(edges * sizeof(uint64_t));
  ring.message_bytes = malloc(edges * sizeof(uint64_t));
  ring.neighbour_ranks = malloc(edges * sizeof(uint32_t));
  for (t = 0; t < n; ++t) {
    const uint64_t global = (uint64_t)rank * n + t;
    ring.ids[t] = 1000 + global;
    ring.bytes[t] = 1000;
    ring.load_s[t] = rank % 4 == 0 ? 3e-3 : 1e-3; /* every fourth rank has three times the load */
    ring.indptr[t] = e;
    for (k = 1; k <= degree; ++k) {
      const uint64_t next = (global + k) % all, before = (global + all - k) % all;
      ring.neighbours[e] = 1000 + next, ring.neighbour_ranks[e] = (uint32_t)(next / n);
      ring.message_bytes[e++] = 800;
      ring.neighbours[e] = 1000 + before, ring.neighbour_ranks[e] = (uint32_t)(before / n);
      ring.message_bytes[e++] = 800;
    }
  }
  ring.indptr[n] = e;
  ring.own.num_tasks = n;
  ring.own.global_ids = ring.ids;
  ring.own.load_s = ring.load_s;
  ring.own.bytes = ring.bytes;
  ring.own.indptr = ring.indptr;
  ring.own.neighbours = ring.neighbours;
  ring.own.neighbour_ranks = knows_ranks ? ring.neighbour_ranks : NULL;
  ring.own.message_bytes = ring.message_bytes;
  return ring;
}

static void free_ring(Ring* ring) {
  free(ring->ids), free(ring->bytes), free(ring->load_s), free(ring->indptr);
  free(ring->neighbours), free(ring->message_bytes), free(ring->neighbour_ranks);
}

static double sum(double value) {
  double all = 0;
  MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static poise_machine* a_machine(void) {
  poise_machine* machine = NULL;
  char text[64];
  if (num_ranks % 2 == 0)
    snprintf(text, sizeof text, "node:%d core:2", num_ranks / 2);
  else
    snprintf(text, sizeof text, "core:%d", num_ranks);
  check(poise_machine_create(text, &machine) == POISE_OK, "a machine is created");
  return machine;
}

/* Checks that each export is an import of another rank, and that loads become even. */
static void plan(const poise_machine* machine, int knows_ranks) {
  enum { kTasks = 500 };
  Ring ring = ring_of(kTasks, 2, knows_ranks);
  uint32_t* to = malloc(kTasks * sizeof(uint32_t));
  const poise_moves *exports = NULL, *imports = NULL;
  double out = 0, in = 0, load_s = 0, all_s;
  uint64_t i;
  check(poise_plan_distributed(&ranks, machine, &ring.own, "poise", 0, to, &exports, &imports) ==
            POISE_OK,
        "a plan");
  if (exports == NULL || imports == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < kTasks; ++i) load_s += to[i] == (uint32_t)rank ? ring.load_s[i] : 0;
  for (i = 0; i < exports->count; ++i) {
    const uint32_t t = exports->task[i];
    check(exports->from[i] == (uint32_t)rank && exports->to[i] == to[t] &&
              exports->global_id[i] == ring.ids[t] && to[t] != (uint32_t)rank,
          "an export is of here");
    out += (double)(exports->global_id[i] * (exports->to[i] + 1));
  }
  check(imports->task == NULL, "imports have no numbers here");
  for (i = 0; i < imports->count; ++i) {
    const uint32_t from = imports->from[i];
    check(imports->to[i] == (uint32_t)rank && from != (uint32_t)rank &&
              imports->global_id[i] >= 1000 + (uint64_t)from * kTasks &&
              imports->global_id[i] < 1000 + (uint64_t)(from + 1) * kTasks,
          "an import comes from the rank that had it");
    in += (double)(imports->global_id[i] * ((uint64_t)rank + 1));
    load_s += from % 4 == 0 ? 3e-3 : 1e-3;
  }
  check(sum(out) == sum(in), "exports are imports");
  all_s = sum(load_s);
  check(num_ranks == 1 || load_s < 1.1 * all_s / num_ranks, "loads are even");
  poise_moves_destroy(exports);
  poise_moves_destroy(imports);
  free(to);
  free_ring(&ring);
}

/* Checks that a wrong argument on one rank is an error on all ranks, and that no rank waits. */
static void refuse(const poise_machine* machine) {
  Ring ring = ring_of(10, 1, 1);
  const int is_wrong = rank == num_ranks - 1;
  char text[64];
  const poise_moves* exports = NULL;
  if (is_wrong) ring.load_s[7] = -1;
  check(poise_plan_distributed(&ranks, machine, &ring.own, "poise", 0, NULL, &exports, NULL) ==
            POISE_BAD_INPUT,
        "an error on all ranks");
  snprintf(text, sizeof text, is_wrong ? "load_s[7] is -1" : "rank %d failed", num_ranks - 1);
  check(strstr(poise_last_error(), text) != NULL, text);
  check(exports == NULL, "no list of exports is made");
  ring.load_s[7] = 1;
  check(poise_plan_distributed(&ranks, is_wrong ? NULL : machine, &ring.own, "poise", 0, NULL, NULL,
                               NULL) == POISE_BAD_INPUT,
        "a machine that is null");
  check(poise_plan_distributed(&ranks, machine, &ring.own, is_wrong ? "pose" : "poise", 0, NULL,
                               NULL, NULL) == POISE_BAD_INPUT,
        "a strategy that does not exist");
  check(
      poise_plan_distributed(&ranks, machine, &ring.own, "poise", 0, NULL, NULL, NULL) == POISE_OK,
      "a call after errors");
  free_ring(&ring);
}

/* Plans with all tasks on one rank; the arrays of the other ranks are null. */
static void plan_from_one(const poise_machine* machine) {
  enum { kTasks = 400 };
  const int has_tasks = rank == num_ranks - 1;
  poise_own_tasks own;
  uint64_t ids[kTasks], i, mine;
  double load_s[kTasks];
  const poise_moves *exports = NULL, *imports = NULL;
  memset(&own, 0, sizeof own);
  for (i = 0; i < kTasks; ++i) ids[i] = 7 * i, load_s[i] = 1e-3;
  if (has_tasks) own.num_tasks = kTasks, own.global_ids = ids, own.load_s = load_s;
  check(poise_plan_distributed(&ranks, machine, &own, "poise", 0, NULL, &exports, &imports) ==
            POISE_OK,
        "a plan of one rank's tasks");
  if (exports == NULL || imports == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  check(has_tasks || exports->count == 0, "a rank without tasks exports none");
  mine = own.num_tasks - exports->count + imports->count;
  check(sum((double)mine) == kTasks, "no task is lost");
  check((double)mine * num_ranks <= 1.1 * kTasks, "tasks are spread evenly");
  poise_moves_destroy(exports);
  poise_moves_destroy(imports);
}

/* Two groups of ranks that an intercommunicator connects cannot decide together. */
static void refuse_intercommunicator(void) {
  MPI_Comm group, both;
  poise_mpi unused;
  poise_communication none;
  if (num_ranks < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0, 0, &both);
  check(poise_mpi_start(both, &unused, &none) == MPI_ERR_COMM, "an intercommunicator is refused");
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
}

static double peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

/* Checks the bound on memory: 200 bytes per own task, 32 per own message, 64 per neighbour on
   another rank, and 8 MB. */
static void measure(const poise_machine* machine, uint64_t tasks, uint64_t degree) {
  Ring ring = ring_of(tasks, degree, 1);
  const double before = peak_bytes(), start_s = MPI_Wtime();
  const double allowed =
      200.0 * (double)tasks + 64.0 * (double)(tasks * degree) + 64.0 * 2 * (double)degree + 8e6;
  double used, most = 0;
  check(
      poise_plan_distributed(&ranks, machine, &ring.own, "poise", 0, NULL, NULL, NULL) == POISE_OK,
      "a plan");
  used = peak_bytes() - before;
  MPI_Allreduce(&used, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    printf(
        "%d ranks, %lu tasks each, %lu messages per task: %.1f MB at most, %.1f allowed, %.2f s\n",
        num_ranks, (unsigned long)tasks, (unsigned long)(2 * degree), most / 1e6, allowed / 1e6,
        MPI_Wtime() - start_s);
  check(used <= allowed, "memory is within the bound");
  free_ring(&ring);
}

int main(int argc, char** argv) {
  poise_machine* machine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  check(poise_mpi_start(MPI_COMM_WORLD, &mpi, &ranks) == MPI_SUCCESS,
        "the communicator is accepted");
  machine = a_machine();
  if (argc == 3) {
    measure(machine, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
  } else {
    plan(machine, 1);
    plan(machine, 0);
    plan_from_one(machine);
    refuse(machine);
    refuse_intercommunicator();
  }
  poise_machine_destroy(machine);
  poise_mpi_end(&mpi);
  wrong = (int)sum(wrong);
  if (rank == 0 && wrong == 0) puts("all is right");
  MPI_Finalize();
  return wrong > 0;
}
