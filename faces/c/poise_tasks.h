// SPDX-License-Identifier: BSD-3-Clause
// The C interface to tasks that any rank of a communicator may run; see runtimes/tasks/context.h.
// It is installed as <poise/tasks.h>.
//
// Functions return a poise_result. poise_tasks_last_error() returns the text of an error.
#pragma once

#include <mpi.h>
#include <poise/result.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text of the last error on this thread; valid until the next call on it. */
const char* poise_tasks_last_error(void);

/* How a task uses an item: reads it, writes it, both, or gets a copy. */
enum poise_mode { POISE_IN, POISE_OUT, POISE_INOUT, POISE_LITERAL };

/* Literals are copied at submission; other data must stay valid until the task is done. */
typedef struct poise_item {
  void* data; /* may be null */
  size_t bytes;
  enum poise_mode mode;
} poise_item;

/* The function of a task; gets the data of its items, in order. */
typedef void (*poise_task_function)(void** data, const size_t* bytes, int num_items);
typedef int poise_function;

/* Registers a function under a name, on every rank before a context is created. */
int poise_tasks_register(const char* name, poise_task_function function, poise_function* id);

/* A context: the tasks that its ranks share. */
typedef struct poise_tasks poise_tasks;

/* `settings` is a text such as "policy=paired,pull=0", or null. Wrong POISE_TASKS_* variables end
   the job with one line on stderr and exit status 2. Collective. */
int poise_tasks_create(MPI_Comm communicator, int threads, const char* settings,
                       poise_tasks** context);
/* The same with a communicator of Fortran. */
int poise_tasks_create_fortran(MPI_Fint communicator, int threads, const char* settings,
                               poise_tasks** context);
/* Waits for all tasks. Collective. */
int poise_tasks_destroy(poise_tasks* context);

/* Memory whose data ranks of this node read and write in place when tasks are lent; ordinary memory
   where none can be shared. To be freed before the context is destroyed. Null on errors. */
void* poise_tasks_allocate(poise_tasks* context, size_t bytes);
int poise_tasks_free(poise_tasks* context, void* data);

/* A named value that travels with a task, so that the task can read it on any rank. */
enum poise_kind { POISE_INTEGER, POISE_REAL, POISE_TEXT };
typedef struct poise_annotation {
  const char* name;
  enum poise_kind kind; /* which of these values is used */
  int64_t integer;
  double real;
  const char* text;
} poise_annotation;

/* Options of a task; all zeros are the defaults. */
typedef struct poise_with {
  double cost;      /* relative to other tasks of the function; 0 means 1 */
  int32_t priority; /* higher first; default 0 */
  int pinned;       /* not 0: never lent */
  int ordered;      /* not 0: runs after earlier ordered tasks that touch the same data */
  void (*on_finish)(void* argument); /* on this rank, by any thread, once, when outputs are in
                                        place; may be null */
  void* argument;
  const int* replicas; /* ranks that get a copy ahead of time; the task runs once */
  int num_replicas;
  const poise_annotation* annotations; /* copied at submission */
  int num_annotations;
} poise_with;

/* `with` may be null. */
int poise_tasks_submit(poise_tasks* context, poise_function function, const poise_item* items,
                       int num_items, const poise_with* with);

/* Waits until the tasks of all ranks are done. Collective. In a task: waits for its children only.
 */
int poise_tasks_wait(poise_tasks* context);
/* The same for num_threads threads of the program, each of which calls it. */
int poise_tasks_wait_team(poise_tasks* context, int num_threads);

/* Runs one queued task if there is one. May be called by tasks, and by the program before it waits.
   `ran`, which may be null, is set to 1 if a task ran, otherwise to 0. */
int poise_tasks_yield(poise_tasks* context, int* ran);

/* Polls for messages. Long tasks may call it now and then. */
int poise_tasks_poll(poise_tasks* context);

/* In a task: its context (null elsewhere), and how to report that the task failed. */
poise_tasks* poise_tasks_current(void);
void poise_task_fail(const char* text);

/* In a task: the value of its annotation of this name. 0 if it has none, or one of another kind.
   A text is valid until the task ends. */
int poise_task_integer(const char* name, int64_t* value);
int poise_task_real(const char* name, double* value);
int poise_task_text(const char* name, const char** value);

#ifdef __cplusplus
}
#endif
