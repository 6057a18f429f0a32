// SPDX-License-Identifier: BSD-3-Clause
// <poise/poise_graph.h>, which poise_parmetis.c and poise_zoltan.c include. Poise needs two things
// that a graph for another partitioner does not contain: the units of its weights, and the machine.
// This header supplies both.
#pragma once

#include <dlfcn.h>
#include <locale.h>
#include <poise/poise.h>
#include <poise/poise_mpi.h>
#include <stdio.h>
#include <string.h>

/* Makes this thread read and write numbers as libpoise does, with a decimal point, even if the
   program has chosen a locale with decimal commas. Returns the previous locale, for
   poise_end_points(). */
static inline locale_t poise_begin_points(void) {
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void poise_end_points(locale_t before) {
  const locale_t points = uselocale(before);
  if (points != before && points != LC_GLOBAL_LOCALE) freelocale(points);
}

/* Reads an environment variable that says what a weight of 1 stands for. Returns `initial` if the
   variable is not set, and -1 if its text is wrong. */
static inline double poise_unit(const char* name, double initial) {
  const char* const text = getenv(name);
  char* end = NULL;
  double value;
  locale_t before;
  if (text == NULL || *text == '\0') return initial;
  before = poise_begin_points();
  value = strtod(text, &end);
  poise_end_points(before);
  return *end == '\0' && value > 0 && value < 1e15 ? value : -1;
}

/* The units of a graph's weights. */
typedef struct poise_units {
  double load_s; /* seconds of work that a vertex weight of 1 stands for */
  double bytes;  /* bytes that an edge weight of 1, and a vertex size of 1, stands for */
} poise_units;

static inline poise_units poise_units_of_environment(void) {
  poise_units units;
  units.load_s = poise_unit("POISE_GRAPH_LOAD_S", 1e-6);
  units.bytes = poise_unit("POISE_GRAPH_BYTES", 8);
  return units;
}

/* Returns a text that says which unit is wrong, or null if both are right. */
static inline const char* poise_units_trouble(const poise_units* units) {
  if (units->load_s < 0) return "POISE_GRAPH_LOAD_S is not a number above 0, such as 1e-6";
  if (units->bytes < 0) return "POISE_GRAPH_BYTES is not a number above 0, such as 8";
  return NULL;
}

/* Converts a number of bytes to an integer. If the number is negative or too large, returns a value
   that libpoise refuses, because the conversion would be undefined and often gives 0. */
static inline uint64_t poise_bytes_of(double bytes) {
  return bytes >= 0 && bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
}

/* Returns the machine of the job: nodes with equally many consecutive ranks or, if the ranks do not
   lie like that, ranks only. `speeds` is empty or a text such as " speeds:1,0.5". Returns null on
   an error, which poise_last_error() describes. Collective. */
static inline poise_machine* poise_machine_of_job(MPI_Comm comm, const char* speeds) {
  const char* const given = getenv("POISE_GRAPH_MACHINE");
  const size_t length = strlen(speeds) + 64;
  poise_machine* machine = NULL;
  char* const text = (char*)malloc(length);
  int rank = 0, num_ranks = 1, rank_in_node = 0, in_node = 1, range[3];
  MPI_Comm node;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank_in_node);
  MPI_Comm_size(node, &in_node);
  MPI_Comm_free(&node);
  range[0] = in_node, range[1] = -in_node, range[2] = rank % in_node != rank_in_node;
  MPI_Allreduce(MPI_IN_PLACE, range, 3, MPI_INT, MPI_MAX, comm);
  if (text == NULL) return NULL;
  if (range[0] == -range[1] && range[2] == 0)
    snprintf(text, length, "node:%d core:%d%s", num_ranks / in_node, in_node, speeds);
  else
    snprintf(text, length, "core:%d%s", num_ranks, speeds);
  poise_machine_create(given == NULL || *given == '\0' ? text : given, &machine);
  free(text);
  return machine;
}
