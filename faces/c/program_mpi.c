// SPDX-License-Identifier: BSD-3-Clause

/* Tests the properties and annotations of tasks, their errors and callbacks, from C. The first rank
   has all tasks. Prints failed checks and exits with status 1. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "faces/c/poise_tasks.h"

enum { kTasks = 60 };
static int my_rank, num_ranks, wrong;
static poise_tasks* tasks;
static poise_function where, fails_away, log_own, append, count_run, parent, child, annotated;

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "rank %d: does not hold: %s (%s)\n", my_rank, what, poise_tasks_last_error());
}

static void works(int result) { check(result == POISE_OK, "a call works"); }

static void refuses(int result, const char* text) {
  check(result == POISE_BAD_INPUT && strstr(poise_tasks_last_error(), text), text);
}

static int wait_fails(const char* text) {
  return poise_tasks_wait(tasks) == POISE_FAILED && strstr(poise_tasks_last_error(), text);
}

static void sleep_a_millisecond(void) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
}

/* The functions that the tasks run. */

static void say_where(void** data, const size_t* bytes, int num_items) {
  (void)bytes, (void)num_items;
  sleep_a_millisecond();
  if (poise_tasks_current() != tasks) poise_task_fail("a task does not know its context");
  *(int*)data[0] = my_rank;
}

static void fail_away(void** data, const size_t* bytes, int num_items) {
  (void)data, (void)bytes, (void)num_items;
  sleep_a_millisecond();
  if (my_rank > 0) poise_task_fail("on purpose, away");
}

static int order[kTasks], num_logged;
static void log_task(void** data, const size_t* bytes, int num_items) {
  (void)bytes, (void)num_items;
  order[num_logged++] = *(int*)data[0];
}

static void append_to(void** data, const size_t* bytes, int num_items) {
  (void)bytes, (void)num_items;
  sleep_a_millisecond();
  *(unsigned*)data[0] = *(unsigned*)data[0] * 31 + *(unsigned*)data[1];
}

static void count_task(void** data, const size_t* bytes, int num_items) {
  (void)bytes, (void)num_items;
  sleep_a_millisecond();
  ++*(int*)data[0];
  *(int*)data[1] = my_rank;
}

static const poise_with kHere = {.pinned = 1};

static void ask_annotations(void** data, const size_t* bytes, int num_items) {
  (void)data, (void)bytes, (void)num_items;
  int64_t number = 0;
  const char* text = NULL;
  check(poise_task_integer("k", NULL) && poise_task_integer("k", &number) && number == 7,
        "a task has its integer annotation");
  check(poise_task_text("t", NULL) && poise_task_text("t", &text) && strcmp(text, "seven") == 0,
        "a task has its text annotation");
  check(!poise_task_real("k", NULL), "an annotation of another kind is not found");
}

static void be_child(void** data, const size_t* bytes, int num_items) {
  (void)bytes;
  if (num_items > 1) poise_task_fail("the child, on purpose");
  ++*(int*)data[0];
}

/* The task fails if its name is 'p'. If the name is 'c', its child fails, and so does the task. */
static void be_parent(void** data, const size_t* bytes, int num_items) {
  (void)bytes, (void)num_items;
  const char who = *(char*)data[1];
  const poise_item items[] = {{data[0], sizeof(int), POISE_INOUT}, {data[1], 1, POISE_LITERAL}};
  if (who == 'p') poise_task_fail("the parent, on purpose");
  works(poise_tasks_submit(poise_tasks_current(), child, items, who == 'c' ? 2 : 1, &kHere));
  const int result = poise_tasks_wait(poise_tasks_current());
  check(result == (who == 'c' ? POISE_FAILED : POISE_OK),
        "the wait tells whether the child failed");
  if (result == POISE_FAILED) poise_task_fail(poise_tasks_last_error());
  if (result == POISE_FAILED) poise_task_fail("only the first reason is kept");
  if (*(int*)data[0] != 1)
    poise_task_fail("the parent task continued before its child task had ended");
}

/* The checks of this test. */

static int count_away(const int* ran_on, int count) {
  int away = 0;
  for (int t = 0; t < count; ++t) {
    check(ran_on[t] >= 0 && ran_on[t] < num_ranks, "the task ran on a rank of the job");
    away += ran_on[t] != 0;
  }
  return away;
}

/* Repeats an attempt until it succeeds on rank 0, because on a busy machine the other ranks may
   begin to wait only when rank 0 has already run all tasks itself. */
static void succeeds(int (*attempt)(void), const char* what) {
  int done = 0;
  for (int i = 0; i < 20 && !done; ++i) {
    done = attempt();
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  check(done, what);
}

static int some_tasks_run_elsewhere_but_pinned_ones_here(void) {
  int away = 0;
  int* ran_on = poise_tasks_allocate(tasks, 2 * kTasks * sizeof(int));
  for (int t = 0; t < 2 * kTasks && my_rank == 0; ++t) {
    const poise_item item = {ran_on + t, sizeof(int), POISE_OUT};
    const poise_with longer = {.cost = 1 + t % 2, .pinned = t >= kTasks};
    works(poise_tasks_submit(tasks, where, &item, 1, &longer));
  }
  works(poise_tasks_wait(tasks));
  if (my_rank == 0) {
    away = count_away(ran_on, kTasks);
    check(count_away(ran_on + kTasks, kTasks) == 0, "pinned tasks run here");
  }
  works(poise_tasks_free(tasks, ran_on));
  return away;
}

static void higher_priority_comes_first(void) {
  for (int t = 0; t < 9; ++t) {
    const poise_item item = {&t, sizeof t, POISE_LITERAL};
    const poise_with with = {.pinned = 1, .priority = t % 3};
    works(poise_tasks_submit(tasks, log_own, &item, 1, &with));
  }
  works(poise_tasks_wait(tasks));
  check(num_logged == 9, "each task runs once");
  for (int i = 0; i < 9; ++i) check(order[i] % 3 == 2 - i / 3, "higher priority comes first");
}

static void ordered_tasks_keep_their_order(void) {
  unsigned data = 1, expected = 1;
  const poise_with in_order = {.ordered = 1};
  for (unsigned t = 0; t < 20 && my_rank == 0; ++t) {
    const poise_item items[] = {{&data, sizeof data, POISE_INOUT}, {&t, sizeof t, POISE_LITERAL}};
    works(poise_tasks_submit(tasks, append, items, 2, &in_order));
    expected = expected * 31 + t;
  }
  works(poise_tasks_wait(tasks));
  check(my_rank > 0 || data == expected, "ordered tasks keep their order");
}

static int replicated_tasks_run_once_some_of_them_elsewhere(void) {
  int runs[kTasks] = {0}, ran_on[kTasks];
  const int last = num_ranks - 1;
  const poise_with copied = {.replicas = &last, .num_replicas = 1};
  for (int t = 0; t < kTasks && my_rank == 0; ++t) {
    const poise_item items[] = {{runs + t, sizeof(int), POISE_INOUT},
                                {ran_on + t, sizeof(int), POISE_OUT}};
    works(poise_tasks_submit(tasks, count_run, items, 2, &copied));
  }
  works(poise_tasks_wait(tasks));
  if (my_rank > 0) return 0;
  for (int t = 0; t < kTasks; ++t) check(runs[t] == 1, "a replicated task runs once");
  return count_away(ran_on, kTasks);
}

static int a_task_fails_elsewhere(void) {
  for (int t = 0; t < kTasks && my_rank == 0; ++t)
    works(poise_tasks_submit(tasks, fails_away, NULL, 0, NULL));
  const int result = poise_tasks_wait(tasks);
  if (result == POISE_OK) return 0;
  check(my_rank == 0 && result == POISE_FAILED, "only the owner of a task reports its failure");
  check(strstr(poise_tasks_last_error(), "on purpose, away") &&
            !strstr(poise_tasks_last_error(), "on rank 0"),
        "the report names the rank and the reason");
  return 1;
}

static void submit_family(int* children, const char* who) {
  const poise_item items[] = {{children, sizeof(int), POISE_INOUT}, {(void*)who, 1, POISE_LITERAL}};
  works(poise_tasks_submit(tasks, parent, items, 2, &kHere));
}

static void a_failure_is_reported_to_the_task_that_waits(void) {
  int children[3] = {0};
  submit_family(children, "-");
  works(poise_tasks_wait(tasks));
  submit_family(children + 1, "c");
  check(wait_fails("the child, on purpose") && !strstr(poise_tasks_last_error(), "more"),
        "the parent fails because of its child");
  check(strstr(poise_tasks_last_error(), "\"parent\" failed") != NULL, "the parent fails");
  submit_family(children + 2, "p");
  check(wait_fails("the parent, on purpose") && !strstr(poise_tasks_last_error(), "more"),
        "the parent fails alone");
}

static void yield_runs_one_task(void) {
  int ran_on[2] = {-1, -1}, ran = -1;
  for (int t = 0; t < 2; ++t) {
    const poise_item item = {ran_on + t, sizeof(int), POISE_OUT};
    works(poise_tasks_submit(tasks, where, &item, 1, &kHere));
  }
  works(poise_tasks_yield(tasks, &ran));
  check(ran == 1 && (ran_on[0] < 0) + (ran_on[1] < 0) == 1, "yield ran exactly one task");
  works(poise_tasks_yield(tasks, NULL));
  works(poise_tasks_yield(tasks, &ran));
  check(ran == 0 && ran_on[0] == my_rank && ran_on[1] == my_rank, "then the other; then none");
  works(poise_tasks_wait(tasks));
}

static void* wait_as_one_of_two(void* result) {
  *(int*)result = poise_tasks_wait_team(tasks, 2);
  return NULL;
}

static int a_team_waits_together_for_tasks_that_run_elsewhere(void) {
  int ran_on[kTasks], other = -1, mine = -1;
  pthread_t thread;
  for (int t = 0; t < kTasks && my_rank == 0; ++t) {
    const poise_item item = {ran_on + t, sizeof(int), POISE_OUT};
    works(poise_tasks_submit(tasks, where, &item, 1, NULL));
  }
  pthread_create(&thread, NULL, wait_as_one_of_two, &other);
  wait_as_one_of_two(&mine);
  pthread_join(thread, NULL);
  check(mine == POISE_OK && other == POISE_OK, "both threads of a team wait");
  return my_rank == 0 ? count_away(ran_on, kTasks) : 0;
}

static void bad_input_is_refused(void) {
  const poise_item item = {NULL, 8, (enum poise_mode)7};
  const poise_annotation no_text = {.name = "x", .kind = POISE_TEXT};
  const poise_annotation no_kind = {.name = "x", .kind = (enum poise_kind)7};
  const int nowhere[] = {-1, num_ranks};
  const struct {
    poise_with with;
    const char* text;
  } bad[] = {
      {{.cost = -1}, "cost is -1"},
      {{.annotations = &no_text, .num_annotations = 1}, "its text is null"},
      {{.annotations = &no_kind, .num_annotations = 1}, "kind is 7"},
      {{.num_annotations = 1}, "annotations: count is 1, but the pointer to the array is null"},
      {{.num_replicas = 1}, "replicas: count is 1, but the pointer to the array is null"},
      {{.replicas = nowhere, .num_replicas = -1}, "replicas: count is -1"},
      {{.replicas = nowhere, .num_replicas = 1}, "replicas contains rank -1"},
      {{.replicas = nowhere + 1, .num_replicas = 1}, "replicas contains rank"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    refuses(poise_tasks_submit(tasks, where, NULL, 0, &bad[i].with), bad[i].text);
  refuses(poise_tasks_submit(tasks, where, NULL, 1, NULL),
          "items: count is 1, but the pointer to the array is null");
  refuses(poise_tasks_submit(tasks, where, &item, -1, NULL), "items: count is -1");
  refuses(poise_tasks_submit(tasks, where, &item, 1, NULL), "mode is 7");
  refuses(poise_tasks_submit(tasks, 999, NULL, 0, NULL), "function id 999 is not registered");
  refuses(poise_tasks_submit(tasks, -1, NULL, 0, NULL), "function id -1 is not registered");
  refuses(poise_tasks_create(MPI_COMM_WORLD, 1, NULL, NULL), "context must not be null");
  poise_tasks* other = NULL;
  refuses(poise_tasks_create(MPI_COMM_WORLD, -3, NULL, &other), "the number of threads is -3;");
  refuses(poise_tasks_wait_team(tasks, 0), "num_threads is 0");
  refuses(poise_tasks_wait_team(tasks, -3), "num_threads is -3");
  refuses(poise_tasks_wait(NULL), "context is null");
  refuses(poise_tasks_yield(NULL, NULL), "context is null");
  refuses(poise_tasks_poll(NULL), "context is null");
  check(poise_tasks_allocate(NULL, 8) == NULL,
        "poise_tasks_allocate without a context returns null");
  check(poise_tasks_allocate(tasks, SIZE_MAX) == NULL,
        "an allocation larger than the memory returns null");
  check(poise_tasks_allocate(tasks, SIZE_MAX - 100) == NULL,
        "an allocation larger than the memory returns null");
#ifndef POISE_SANITIZED /* with a sanitizer, such a large allocation would end the program */
  char byte = 0;
  const poise_item too_large = {&byte, (size_t)1 << 50, POISE_LITERAL};
  check(poise_tasks_submit(tasks, where, &too_large, 1, NULL) == POISE_FAILED &&
            strcmp(poise_tasks_last_error(), "there is not enough memory") == 0,
        "too little memory is no wrong input");
  check(poise_tasks_allocate(tasks, SIZE_MAX / 2) == NULL,
        "an allocation larger than the memory returns null");
#endif
}

static void destroying_reports_failures(void) {
  int children = 0;
  if (my_rank == 0) submit_family(&children, "c");
  check(poise_tasks_destroy(tasks) == (my_rank == 0 ? POISE_FAILED : POISE_OK),
        "the owner of a failed task learns that it failed when the context is destroyed");
  check(my_rank > 0 || strstr(poise_tasks_last_error(), "the child, on purpose"),
        "the reason of the failure is told");
}

static void annotations_may_be_asked_for_without_their_value(void) {
  const poise_annotation both[] = {{.name = "k", .kind = POISE_INTEGER, .integer = 7},
                                   {.name = "t", .kind = POISE_TEXT, .text = "seven"}};
  const poise_with with = {.pinned = 1, .annotations = both, .num_annotations = 2};
  works(poise_tasks_submit(tasks, annotated, NULL, 0, &with));
  works(poise_tasks_wait(tasks));
}

static void some_things_are_for_tasks(void) {
  int64_t number = 5;
  check(poise_tasks_current() == NULL, "outside of tasks there is no current context");
  check(!poise_task_integer("x", &number) && number == 5, "of which nothing was said");
}

static void register_all(void) {
  works(poise_tasks_register("where", say_where, &where));
  works(poise_tasks_register("fails away", fail_away, &fails_away));
  works(poise_tasks_register("log", log_task, &log_own));
  works(poise_tasks_register("append", append_to, &append));
  works(poise_tasks_register("count", count_task, &count_run));
  works(poise_tasks_register("parent", be_parent, &parent));
  works(poise_tasks_register("child", be_child, &child));
  works(poise_tasks_register("annotated", ask_annotations, &annotated));
  refuses(poise_tasks_register("child", be_child, &child), "names must differ");
  refuses(poise_tasks_register(NULL, be_child, &child), "must not be null");
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  register_all();
  works(poise_tasks_create(MPI_COMM_WORLD, 1, NULL, &tasks));
  bad_input_is_refused();
  annotations_may_be_asked_for_without_their_value();
  some_things_are_for_tasks();
  succeeds(some_tasks_run_elsewhere_but_pinned_ones_here, "some tasks run elsewhere");
  higher_priority_comes_first();
  ordered_tasks_keep_their_order();
  succeeds(replicated_tasks_run_once_some_of_them_elsewhere, "some run where their copy is");
  succeeds(a_task_fails_elsewhere, "a task that fails elsewhere is reported on its owner rank");
  a_failure_is_reported_to_the_task_that_waits();
  yield_runs_one_task();
  succeeds(a_team_waits_together_for_tasks_that_run_elsewhere, "others run a team's tasks, too");
  works(poise_tasks_poll(tasks));
  destroying_reports_failures();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0) puts(wrong ? "something is WRONG" : "all is right");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
