// SPDX-License-Identifier: BSD-3-Clause

/* An application in C99 that leaves MPI to the library, adds tasks from tasks, waits inside them,
   and does what the authors' compiler would. Prints what went wrong and exits 1.

   application [tool]   a tool of CHAMELEON_TOOL_LIBRARIES is to have seen it all
   application alone    no tool is to have seen anything
   application stays    no task is to leave its rank
   application any      tasks may leave their rank or not; nothing is called before the start */
#define _POSIX_C_SOURCE 200809L
#include <chameleon.h>
#include <chameleon_pre_init.h>
#include <mpi.h>
#include <time.h>

/* A rank that is late misses the tasks of a round, so rounds are repeated up to a limit. */
enum { kTasks = 100, kMaxRounds = 100 };
static int my_rank, num_ranks = 1, wrong, num_added;
static const int kTo = CHAM_OMP_TGT_MAPTYPE_TO, kFrom = CHAM_OMP_TGT_MAPTYPE_FROM;

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "rank %d: does not hold: %s\n", my_rank, what);
}

static void wait_for_all(void) {
  check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "the wait succeeds");
}

static int sum_over_ranks(int value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

static void sleep_a_millisecond(void) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
}

/* ISO C has no such cast, POSIX has. */
typedef void (*any_function)(void);
static void* address_of(any_function function) {
  void* address;
  memcpy(&address, &function, sizeof address);
  return address;
}
#define CODE(function) address_of((any_function)(function))

static void add(cham_migratable_task_t* task) {
  ++num_added;
  check(chameleon_add_task(task) == CHAM_SUCCESS, "a task is added");
}

/* The tasks. */

static void say_where(int* ran_on) {
  sleep_a_millisecond();
  *ran_on = my_rank;
}

static void add_to(int* sum, int value) { *sum += value; }

static void be_parent(int* sum) {
  int values[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) {
    chameleon_map_data_entry_t args[2];
    args[0] = chameleon_map_data_entry_create(&values[i], sizeof(int), kTo | kFrom);
    args[1] = chameleon_map_data_entry_create((void*)(intptr_t)i, sizeof(void*),
                                              CHAM_OMP_TGT_MAPTYPE_LITERAL);
    add(chameleon_create_task(CODE(add_to), 2, args));
  }
  wait_for_all(); /* for these four alone */
  *sum = values[0] + values[1] + values[2] + values[3];
}

static void yield_until_a_visitor_ran(int* visitor_ran) {
  const double end_s = MPI_Wtime() + 1;
  while (!*visitor_ran && MPI_Wtime() < end_s)
    *visitor_ran = chameleon_taskyield() == CHAM_REMOTE_TASK_SUCCESS;
}

static void double_all(double* numbers, int count) {
  for (int i = 0; i < count; ++i) numbers[i] *= 2;
}

/* What holds of them. */

static void add_tasks_of_rank_0(int ran_on[kTasks]) {
  for (int t = 0; t < kTasks && my_rank == 0; ++t) {
    chameleon_map_data_entry_t arg =
        chameleon_map_data_entry_create(&ran_on[t], sizeof(int), kFrom);
    add(chameleon_create_task(CODE(say_where), 1, &arg));
  }
}

static void tasks_leave_their_rank(int they_may) {
  const int expected = they_may && num_ranks > 1;
  int ran_on[kTasks], away = 0;
  for (int round = 0; round == 0 || (round < kMaxRounds && expected && !sum_over_ranks(away));
       ++round) {
    add_tasks_of_rank_0(ran_on);
    check(chameleon_wake_up_comm_threads() == CHAM_SUCCESS, "no thread has to be woken");
    wait_for_all();
    for (int t = 0; t < kTasks && my_rank == 0; ++t) away += ran_on[t] != 0;
  }
  check(my_rank > 0 || (away > 0) == expected, "tasks leave their rank");
}

static void ids_differ_on_all_ranks(void) {
  int mine[kTasks], *all = malloc(sizeof mine * (size_t)num_ranks);
  for (int t = 0; t < kTasks; ++t) {
    cham_migratable_task_t* task = chameleon_create_task(CODE(sleep_a_millisecond), 0, NULL);
    mine[t] = chameleon_get_task_id(task);
    if (t % 10 == 0) add(task);
  }
  wait_for_all();
  check(chameleon_local_task_has_finished(mine[0]), "a task that was added has finished");
  check(!chameleon_local_task_has_finished(mine[1]), "one that was not has not");
  check(!chameleon_local_task_has_finished(mine[kTasks - 1] + num_ranks), "nor one yet to come");
  if (num_ranks > 1) check(!chameleon_local_task_has_finished(mine[0] + 1), "nor another rank's");
  MPI_Allgather(mine, kTasks, MPI_INT, all, kTasks, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < kTasks * num_ranks; ++i)
    for (int j = 0; j < i; ++j) check(all[i] != all[j], "ids differ on all ranks");
  free(all);
}

static void annotations_keep_their_types(void) {
  chameleon_annotations_t* const all = chameleon_create_annotation_container();
  cham_migratable_task_t* const task = chameleon_create_task(CODE(sleep_a_millisecond), 0, NULL);
  int64_t large = 0;
  double real = 0;
  float single = 0;
  int none = 0;
  chameleon_set_annotation_int64(all, "int64", INT64_C(1) << 40);
  chameleon_set_annotation_double(all, "double", 0.1);
  chameleon_set_annotation_float(all, "float", 0.25f);
  chameleon_set_task_annotations(task, all);
  chameleon_set_task_annotations(task, all); /* it has them already */
  add(task);
  check(chameleon_get_task_annotations_opaque(task) == all, "the task has its annotations");
  check(chameleon_get_annotation_int64(all, "int64", &large) && large == INT64_C(1) << 40, "int64");
  check(chameleon_get_annotation_double(all, "double", &real) && real == 0.1, "double");
  check(chameleon_get_annotation_float(all, "float", &single) && single == 0.25f, "float");
  check(!chameleon_get_annotation_int(all, "double", &none), "a double is no int");
  check(chameleon_set_annotation_int(NULL, "x", 1) != 0, "nothing is said of nothing");
  check(!chameleon_get_annotation_int(NULL, "x", &none), "of which nothing is known");
  check(chameleon_set_annotation_string(all, NULL, "x") != 0, "nor under no name");
  wait_for_all();
}

static void tasks_add_tasks_and_wait_for_them(void) {
  int sums[10];
  for (int t = 0; t < 10; ++t) {
    chameleon_map_data_entry_t arg = chameleon_map_data_entry_create(&sums[t], sizeof(int), kFrom);
    add(chameleon_create_task(CODE(be_parent), 1, &arg));
  }
  wait_for_all();
  for (int t = 0; t < 10; ++t) check(sums[t] == 16, "a task has waited for those it added");
}

static void yield_says_whose_task_ran(void) {
  int ran_on[kTasks], visitor_ran = 0;
  chameleon_map_data_entry_t arg = chameleon_map_data_entry_create(ran_on, sizeof(int), kFrom);
  check(chameleon_taskyield() == CHAM_FAILURE, "there is nothing to run");
  add(chameleon_create_task(CODE(say_where), 1, &arg));
  check(chameleon_taskyield() == CHAM_LOCAL_TASK_SUCCESS, "an own task ran");
  check(chameleon_taskyield() == CHAM_FAILURE, "there is nothing left");
  for (int round = 0; round < kMaxRounds && num_ranks > 1 && !sum_over_ranks(visitor_ran);
       ++round) {
    add_tasks_of_rank_0(ran_on);
    if (my_rank == 1) {
      arg = chameleon_map_data_entry_create(&visitor_ran, sizeof(int), kTo | kFrom);
      add(chameleon_create_task(CODE(yield_until_a_visitor_ran), 1, &arg));
    }
    wait_for_all();
  }
  check(my_rank != 1 || visitor_ran, "another rank's task ran");
}

/* Data is known by its address; what the code is given may lie further on. */
static void a_compiler_would_do_this(void) {
  const size_t bytes = 10 * sizeof(double);
  double* const data = malloc(bytes);
  void* args[2] = {data, (void*)(intptr_t)8};
  ptrdiff_t offsets[2] = {2 * sizeof(double), 0};
  int64_t types[2] = {CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM,
                      CHAM_OMP_TGT_MAPTYPE_LITERAL};
  for (int i = 0; i < 10; ++i) data[i] = i;
  chameleon_incr_mem_alloc((int64_t)bytes);
  check(chameleon_submit_data(data, data, (int64_t)bytes) == CHAM_SUCCESS, "data is known");
  cham_migratable_task_t* task = create_migratable_task(CODE(double_all), args, offsets, types, 2);
  chameleon_set_img_idx_offset(task, 3, 48);
  add(task);
  check(!create_migratable_task(CODE(double_all), NULL, offsets, types, 2), "null is refused");
  wait_for_all();
  for (int i = 0; i < 10; ++i) check(data[i] == (i < 2 ? i : 2 * i), "from the offset on");
  chameleon_free_data(data);
}

static void printing_names_the_rank(void) {
  char line[80] = "", expected[80];
  FILE* const file = tmpfile();
  const int before = dup(2);
  dup2(fileno(file), 2);
  chameleon_print(1, "part", my_rank, "%d of %s\n", 5, "seven");
  chameleon_print(0, "part", my_rank, "and no more\n");
  fflush(stderr);
  dup2(before, 2);
  close(before);
  rewind(file);
  snprintf(expected, sizeof expected, "part R#%d: 5 of seven\n", my_rank);
  check(fgets(line, sizeof line, file) && strcmp(line, expected) == 0, "the prefix is printed");
  check(fgets(line, sizeof line, file) && strcmp(line, "and no more\n") == 0, "or not");
  fclose(file);
}

static void a_tool_saw(const char* what) {
  int added = 0, nested = 0, mistakes = 1;
  const char* const text = getenv("TOOL_SAW");
  if (strcmp(what, "tool") != 0) {
    check(text == NULL || strcmp(what, "alone") != 0, "no tool saw anything");
    return;
  }
  check(text &&
            sscanf(text, "%d created, %d inside others, %d wrong", &added, &nested, &mistakes) == 3,
        "the tool that stays is the one that is called");
  check(mistakes == 0, "the tool has nothing to complain of");
  check(added == num_added, "it saw every task added");
  check(sum_over_ranks(nested) > 0, "and tasks run inside others");
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int up = 0;
  const int any = strcmp(what, "any") == 0;
  check(any || !chameleon_create_task(CODE(sleep_a_millisecond), 0, NULL),
        "no task before the start");
  chameleon_pre_init();
  if (chameleon_init() != CHAM_SUCCESS) return 1;
  MPI_Initialized(&up);
  check(up, "the library starts MPI");
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  check(chameleon_thread_init() == CHAM_SUCCESS, "the thread starts");
  if (!any) tasks_leave_their_rank(strcmp(what, "stays") != 0);
  ids_differ_on_all_ranks();
  annotations_keep_their_types();
  tasks_add_tasks_and_wait_for_them();
  if (!any && strcmp(what, "stays") != 0) yield_says_whose_task_ran();
  a_compiler_would_do_this();
  printing_names_the_rank();
  check(chameleon_thread_finalize() == CHAM_SUCCESS, "the thread ends");
  check(chameleon_finalize() == CHAM_SUCCESS, "the end");
  a_tool_saw(what);
  wrong = sum_over_ranks(wrong);
  if (my_rank == 0) puts(wrong ? "something is WRONG" : "all is right");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
