/* SPDX-License-Identifier: BSD-3-Clause */
/* A p4est mesh whose elements cost different times.
 * Usage: p4est_weights LEVEL STEPS even|weighted [TURNS [EVERY]]
 * The elements in a disk in the lower left are refined twice more than the others and cost 8 times
 * as much, as elements with a limiter or with chemistry do. `even` gives all ranks the same number
 * of elements; `weighted` divides the cost. Each step updates all elements, exchanges the values of
 * elements at the borders of ranks and computes a global maximum. With TURNS, the disk moves
 * around the middle of the square TURNS times, all elements have the same size, and `weighted`
 * divides the cost anew every EVERY steps (default: 10). */
#include <math.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMoreLevels = 2, kCheapRounds = 50, kDearRounds = 400 };

static int base_level, more_levels = kMoreLevels;
static double disk_x = 0.25, disk_y = 0.25;

static int is_in_disk(const p4est_quadrant_t* element) {
  const double x = (double)element->x / P4EST_ROOT_LEN, y = (double)element->y / P4EST_ROOT_LEN;
  return (x - disk_x) * (x - disk_x) + (y - disk_y) * (y - disk_y) < 0.04;
}

static int refine(p4est_t* mesh, p4est_topidx_t tree, p4est_quadrant_t* element) {
  (void)mesh, (void)tree;
  return element->level < base_level ||
         (element->level < base_level + more_levels && is_in_disk(element));
}

static void init(p4est_t* mesh, p4est_topidx_t tree, p4est_quadrant_t* element) {
  (void)mesh, (void)tree;
  *(double*)element->p.user_data = is_in_disk(element) ? 1.0 : 0.5;
}

static int cost_of(p4est_t* mesh, p4est_topidx_t tree, p4est_quadrant_t* element) {
  (void)mesh, (void)tree;
  return is_in_disk(element) ? kDearRounds : kCheapRounds;
}

static double update(const p4est_quadrant_t* element, double value) {
  const int rounds = is_in_disk(element) ? kDearRounds : kCheapRounds;
  for (int i = 0; i < rounds; ++i) value = 3.7 * value * (1 - value) + 1e-9;
  return value;
}

/* The elements at the borders of ranks, and their values. */
typedef struct {
  p4est_ghost_t* elements;
  double* values;
} borders;

static borders borders_of(p4est_t* mesh) {
  borders of = {p4est_ghost_new(mesh, P4EST_CONNECT_FULL), NULL};
  of.values = malloc((of.elements->ghosts.elem_count + 1) * sizeof(double));
  return of;
}

static void destroy(borders* of) {
  free(of->values);
  p4est_ghost_destroy(of->elements);
}

static void divide_anew(p4est_t* mesh, borders* of) {
  destroy(of);
  p4est_partition(mesh, 0, cost_of);
  *of = borders_of(mesh);
}

static double step(p4est_t* mesh, borders* of) {
  double largest = 0, largest_of_all = 0;
  for (p4est_topidx_t t = mesh->first_local_tree; t <= mesh->last_local_tree; ++t) {
    sc_array_t* elements = &p4est_tree_array_index(mesh->trees, t)->quadrants;
    for (size_t i = 0; i < elements->elem_count; ++i) {
      p4est_quadrant_t* element = p4est_quadrant_array_index(elements, i);
      double* value = element->p.user_data;
      *value = update(element, *value);
      if (*value > largest) largest = *value;
    }
  }
  p4est_ghost_exchange_data(mesh, of->elements, of->values);
  MPI_Allreduce(&largest, &largest_of_all, 1, MPI_DOUBLE, MPI_MAX, mesh->mpicomm);
  return largest_of_all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int every = argc > 5 ? atoi(argv[5]) : 10;
  if (argc < 4 || argc > 6 || every < 1) {
    fprintf(stderr, "usage: p4est_weights LEVEL STEPS even|weighted [TURNS [EVERY]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  sc_init(MPI_COMM_WORLD, 1, 1, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
  base_level = atoi(argv[1]);
  const int steps = atoi(argv[2]), is_weighted = strcmp(argv[3], "weighted") == 0;
  const double turns = argc > 4 ? atof(argv[4]) : 0;
  if (turns > 0) more_levels = 0;
  p4est_connectivity_t* shape = p4est_connectivity_new_unitsquare();
  p4est_t* mesh = p4est_new_ext(MPI_COMM_WORLD, shape, 0, 2, 1, sizeof(double), init, NULL);
  p4est_refine(mesh, 1, refine, init);
  p4est_partition(mesh, 0, is_weighted ? cost_of : NULL);
  borders of = borders_of(mesh);
  double largest = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    if (turns > 0) {
      disk_x = 0.5 - 0.3 * cos(6.28318530718 * turns * i / steps);
      disk_y = 0.5 - 0.3 * sin(6.28318530718 * turns * i / steps);
      if (is_weighted && i % every == 0) divide_anew(mesh, &of);
    }
    largest = step(mesh, &of);
  }
  const double seconds = MPI_Wtime() - start;
  if (mesh->mpirank == 0)
    printf("%lld elements, largest value %.6f\nTime of the steps: %.6f s\n",
           (long long)mesh->global_num_quadrants, largest, seconds);
  destroy(&of);
  p4est_destroy(mesh);
  p4est_connectivity_destroy(shape);
  sc_finalize();
  MPI_Finalize();
  return 0;
}
