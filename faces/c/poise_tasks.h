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

/* Returns the text of the last error on this thread. The text is valid until this thread calls
   another function of this header. */
const char* poise_tasks_last_error(void);

/* How a task uses an item: reads it, writes it, does both, or gets a copy (a literal). */
enum poise_mode { POISE_IN, POISE_OUT, POISE_INOUT, POISE_LITERAL };

/* An argument of a task. Literals are copied when the task is submitted; all other data must stay
   valid until the task is done. */
typedef struct poise_item {
  void* data; /* may be null */
  size_t bytes;
  enum poise_mode mode;
} poise_item;

/* A function that tasks run. It gets the addresses and sizes of the items, in their order. */
typedef void (*poise_task_function)(void** data, const size_t* bytes, int num_items);
typedef int poise_function;

/* Registers a function under a name. To be called on every rank before a context is created. */
int poise_tasks_register(const char* name, poise_task_function function, poise_function* id);

/* A context runs the tasks of all ranks of a communicator. */
typedef struct poise_tasks poise_tasks;

/* Creates a context whose ranks run `threads` threads each. `settings` is a text such as
   "policy=paired,pull=0", or null. Wrong POISE_TASKS_* variables end the job with one line on
   stderr and exit status 2. Collective. */
int poise_tasks_create(MPI_Comm communicator, int threads, const char* settings,
                       poise_tasks** context);
/* Like poise_tasks_create(), but with a communicator of Fortran. */
int poise_tasks_create_fortran(MPI_Fint communicator, int threads, const char* settings,
                               poise_tasks** context);
/* Waits for all tasks, then destroys the context. If tasks of this rank have failed since the last
   wait, returns POISE_FAILED; the context is destroyed nevertheless. Collective. */
int poise_tasks_destroy(poise_tasks* context);

/* Allocates memory that the ranks of this node read and write in place when tasks are lent. Where
   ranks cannot share memory, this is ordinary memory. Free it before the context is destroyed.
   Returns null on errors. */
void* poise_tasks_allocate(poise_tasks* context, size_t bytes);
int poise_tasks_free(poise_tasks* context, void* data);

/* A named value that travels with a task, so that the task can read it on any rank. */
enum poise_kind { POISE_INTEGER, POISE_REAL, POISE_TEXT };
typedef struct poise_annotation {
  const char* name;
  enum poise_kind kind; /* which of the members below is used */
  int64_t integer;
  double real;
  const char* text;
} poise_annotation;

/* Properties of a task. If all members are 0, the defaults apply. */
typedef struct poise_with {
  double cost;      /* relative to other tasks of the same function; 0 means 1 */
  int32_t priority; /* tasks of higher priority run first */
  int pinned;       /* not 0: never lent */
  int ordered;      /* not 0: runs after earlier ordered tasks that touch the same data */
  void (*on_finish)(void* argument); /* called once, on this rank, by any thread, when the
                                        outputs are in place; may be null */
  void* argument;
  const int* replicas; /* ranks that get a copy in advance; the task still runs once */
  int num_replicas;
  const poise_annotation* annotations; /* copied at submission */
  int num_annotations;
} poise_with;

/* Submits a task. If `with` is null, the defaults apply. */
int poise_tasks_submit(poise_tasks* context, poise_function function, const poise_item* items,
                       int num_items, const poise_with* with);

/* Waits until the tasks of all ranks are done. Collective. A call inside a task is not collective,
   and waits only for the tasks that this task has submitted. If some of them failed, the call
   returns POISE_FAILED; the calling task counts as failed only if it calls poise_task_fail(). */
int poise_tasks_wait(poise_tasks* context);
/* Like poise_tasks_wait(), but num_threads threads of the program wait together: each calls it. */
int poise_tasks_wait_team(poise_tasks* context, int num_threads);

/* Runs one queued task if there is one. May be called by tasks, and by the program before it waits.
   `ran`, which may be null, is set to 1 if a task ran, otherwise to 0. */
int poise_tasks_yield(poise_tasks* context, int* ran);

/* Polls for messages. Long tasks may call it now and then. */
int poise_tasks_poll(poise_tasks* context);

/* Returns the context of the task that this thread runs; null outside of tasks. */
poise_tasks* poise_tasks_current(void);
/* To be called in a task: reports that the task failed, with the reason. Of several calls in a
   task, the first counts. */
void poise_task_fail(const char* text);

/* To be called in a task: stores the value of the task's annotation with this name, and returns 1.
   Returns 0 if the task has no such annotation, or one of another kind. A text is valid until the
   task ends. If `value` is null, only tells whether the task has the annotation. */
int poise_task_integer(const char* name, int64_t* value);
int poise_task_real(const char* name, double* value);
int poise_task_text(const char* name, const char** value);

#ifdef __cplusplus
}
#endif
