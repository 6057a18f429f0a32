// SPDX-License-Identifier: BSD-3-Clause

/* Dense matrix products as tasks, in C: matmul SIZE TASKS_OF_RANK_0 TASKS_OF_RANK_1 … */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faces/c/poise_tasks.h"

static void multiply(void** data, const size_t* bytes, int num_items) {
  const double *a = data[0], *b = data[1];
  double *c = data[2], scale;
  const char* kind;
  int64_t index;
  int n;
  memcpy(&n, data[3], sizeof n);
  if (num_items != 4 || bytes[2] != sizeof(double) * (size_t)(n * n)) {
    poise_task_fail("the task did not get the 4 items that were submitted");
    return;
  }
  if (!poise_task_integer("index", &index) || !poise_task_real("scale", &scale) ||
      !poise_task_text("kind", &kind) || scale != 0.5 * (double)index || strcmp(kind, "product") ||
      poise_task_integer("scale", &index) || poise_task_integer("none", &index)) {
    poise_task_fail("the annotations differ from those submitted");
    return;
  }
  memset(c, 0, bytes[2]);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void check(int result) {
  if (result == POISE_OK) return;
  fprintf(stderr, "matmul: %s\n", poise_tasks_last_error());
  MPI_Abort(MPI_COMM_WORLD, result);
}

/* Any thread may call this function when an offloaded task is complete. */
static void count(void* argument) { __atomic_add_fetch((int*)argument, 1, __ATOMIC_RELAXED); }

/* Matrix a is twice the identity matrix, so the product c must be 2 b. */
static void fill(double* product, int n) {
  const size_t size = (size_t)(n * n);
  for (size_t i = 0; i < size; ++i) {
    product[i] = i % (size_t)(n + 1) == 0 ? 2 : 0;
    product[size + i] = (double)i;
    product[2 * size + i] = -1;
  }
}

static int compute(int n, int num_tasks, poise_function function) {
  const size_t size = (size_t)(n * n);
  poise_tasks* context;
  check(poise_tasks_create(MPI_COMM_WORLD, 1, NULL, &context));
  /* Other ranks of this node access this memory directly, without copies. */
  double* all = poise_tasks_allocate(context, 3 * size * sizeof(double) * (size_t)(num_tasks + 1));
  int finished = 0, wrong = 0;
  for (int t = 0; t < num_tasks; ++t) {
    double* product = all + 3 * size * (size_t)t;
    fill(product, n);
    const poise_item items[] = {{product, size * sizeof(double), POISE_IN},
                                {product + size, size * sizeof(double), POISE_IN},
                                {product + 2 * size, size * sizeof(double), POISE_OUT},
                                {&n, sizeof n, POISE_LITERAL}};
    const poise_annotation annotations[] = {
        {.name = "index", .kind = POISE_INTEGER, .integer = t},
        {.name = "scale", .kind = POISE_REAL, .real = 0.5 * t},
        {.name = "kind", .kind = POISE_TEXT, .text = "product"}};
    const poise_with with = {.on_finish = count,
                             .argument = &finished,
                             .annotations = annotations,
                             .num_annotations = 3};
    check(poise_tasks_submit(context, function, items, 4, &with));
  }
  check(poise_tasks_wait(context));
  for (int t = 0; t < num_tasks; ++t)
    for (size_t i = 0; i < size; ++i)
      wrong += all[3 * size * (size_t)t + 2 * size + i] != 2 * (double)i;
  if (finished != num_tasks) ++wrong;
  check(poise_tasks_free(context, all));
  check(poise_tasks_destroy(context));
  return wrong;
}

int main(int argc, char** argv) {
  int level, rank;
  poise_function function;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? atoi(argv[1]) : 50;
  const int num_tasks = argc > 2 + rank ? atoi(argv[2 + rank]) : 0;
  if (n < 1 || n > 10000 || num_tasks < 0) {
    fprintf(stderr, "usage: matmul_c SIZE TASKS_OF_RANK_0 TASKS_OF_RANK_1 …\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  check(poise_tasks_register("multiply", multiply, &function));
  int wrong = compute(n, num_tasks, function);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(wrong ? "products are WRONG" : "all products are right");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
