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

/* What a weight of 1 stands for. */
typedef struct poise_unit {
  const char* variable; /* the environment variable that sets the unit */
  double value;         /* -1: the text of the variable is wrong */
  double most;          /* libpoise accepts at most this many seconds or bytes */
} poise_unit;

/* The units of a graph's weights. */
typedef struct poise_units {
  poise_unit load_s; /* seconds of work that a vertex weight of 1 stands for */
  poise_unit bytes;  /* bytes that an edge weight of 1, and a vertex size of 1, stands for */
} poise_units;

/* Returns a unit. If its variable is not set, the value is `initial`. */
static inline poise_unit poise_unit_of(const char* variable, double initial, double most) {
  poise_unit unit;
  const char* const text = getenv(variable);
  char* end = NULL;
  locale_t before;
  unit.variable = variable, unit.value = initial, unit.most = most;
  if (text == NULL || *text == '\0') return unit;
  before = poise_begin_points();
  unit.value = strtod(text, &end);
  poise_end_points(before);
  if (*end != '\0' || !(unit.value > 0 && unit.value < 1e15)) unit.value = -1;
  return unit;
}

static inline poise_units poise_units_of_environment(void) {
  poise_units units;
  units.load_s = poise_unit_of("POISE_GRAPH_LOAD_S", 1e-6, 1e15);
  units.bytes = poise_unit_of("POISE_GRAPH_BYTES", 8, 9007199254740992.0 /* 2^53 */);
  return units;
}

/* Returns a text that says which unit is wrong, or null if both are right. */
static inline const char* poise_units_trouble(const poise_units* units) {
  if (units->load_s.value < 0) return "POISE_GRAPH_LOAD_S is not a number above 0, such as 1e-6";
  if (units->bytes.value < 0) return "POISE_GRAPH_BYTES is not a number above 0, such as 8";
  return NULL;
}

/* True if libpoise accepts a weight in this unit. */
static inline int poise_is_weight(double weight, const poise_unit* unit) {
  return weight >= 0 && weight * unit->value <= unit->most;
}

enum { POISE_GRAPH_TEXT = 200 }; /* bytes of a text that says what is wrong */

/* Says why a weight is wrong. `name` is the name of the weight, such as "vwgt[3]". */
static inline void poise_tell_weight(char text[POISE_GRAPH_TEXT], const char* name, double weight,
                                     const poise_unit* unit) {
  if (weight >= 0)
    snprintf(text, POISE_GRAPH_TEXT, "%s is %.10g; with %s=%.6g it must be at most %.6g", name,
             weight, unit->variable, unit->value, unit->most / unit->value);
  else
    snprintf(text, POISE_GRAPH_TEXT, "%s is %.10g; it must be at least 0", name, weight);
}

/* The most steps that libpoise accepts. With this number of steps, migrations cost practically
   nothing. Task sizes of 0 alone do not achieve this, because each migrated task costs time. */
enum { POISE_MOST_STEPS = 1000000000 };

/* Writes the text of the strategy with which migrations must pay off in this many steps. */
static inline void poise_write_strategy(char text[POISE_GRAPH_TEXT], double steps) {
  const locale_t before = poise_begin_points();
  snprintf(text, POISE_GRAPH_TEXT, "poise:steps=%.9g",
           steps < POISE_MOST_STEPS ? steps : POISE_MOST_STEPS);
  poise_end_points(before);
}

/* Returns why poise_plan_distributed() failed. If ranks passed it different strategies or machines,
   returns `differing`, which names the inputs of the program from which these were made. */
static inline const char* poise_reason(const char* differing) {
  const char* const why = poise_last_error();
  return strstr(why, "differs between ranks") == NULL ? why : differing;
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
