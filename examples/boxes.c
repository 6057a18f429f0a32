/* SPDX-License-Identifier: BSD-3-Clause */
/* How a code with adaptive meshes, such as one on AMReX, asks for its distribution map: boxes with
   costs and the old map in, the new map out. A front moves through 512 boxes on 64 ranks; every ten
   steps the map is made anew. Compares Poise with AMReX's two ways, knapsack and space-filling
   curve, which are written here as AMReX has them, without the old map. */
#include <math.h>
#include <poise/poise.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSide = 8, kBoxes = kSide * kSide * kSide, kRanks = 64, kPhases = 20, kSteps = 10 };
static const double kCells = 32 * 32 * 32, kCellSeconds = 1e-8, kFields = 5, kGhosts = 2;

typedef void (*Map)(const poise_machine* machine, const poise_workload* workload,
                    const double* cost, const uint32_t* old, uint32_t* map);

static void check(int result) {
  if (result == POISE_OK) return;
  fprintf(stderr, "%s\n", poise_last_error());
  exit(2);
}

static int box_at(int x, int y, int z) { return (z * kSide + y) * kSide + x; }

/* Boxes that contain the front take up to ten times as long. */
static void costs_at(int phase, double* cost) {
  int x, y, z;
  for (z = 0; z < kSide; ++z)
    for (y = 0; y < kSide; ++y)
      for (x = 0; x < kSide; ++x) {
        const double front = (double)kSide * phase / kPhases - 0.25 * y, d = x - front;
        cost[box_at(x, y, z)] = kCells * kCellSeconds * (1 + 9 * exp(-d * d));
      }
}

static poise_workload* workload_of(const double* cost) {
  static uint32_t from[6 * kBoxes], to[6 * kBoxes];
  static uint64_t sent[6 * kBoxes], bytes[kBoxes];
  const int step[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  poise_workload* workload = NULL;
  uint64_t edges = 0;
  int x, y, z, i;
  for (z = 0; z < kSide; ++z)
    for (y = 0; y < kSide; ++y)
      for (x = 0; x < kSide; ++x)
        for (i = 0; i < 6; ++i) {
          const int a = x + step[i][0], b = y + step[i][1], c = z + step[i][2];
          if (a < 0 || b < 0 || c < 0 || a >= kSide || b >= kSide || c >= kSide) continue;
          from[edges] = (uint32_t)box_at(x, y, z), to[edges] = (uint32_t)box_at(a, b, c);
          sent[edges++] = (uint64_t)(32 * 32 * kGhosts * kFields * sizeof(double));
        }
  for (i = 0; i < kBoxes; ++i) bytes[i] = (uint64_t)(kCells * kFields * sizeof(double));
  check(poise_workload_create(kBoxes, cost, &workload));
  check(poise_workload_set_sizes(workload, bytes)); /* bytes that are sent when a box moves */
  check(poise_workload_set_messages(workload, edges, from, to, NULL, sent)); /* its ghost cells */
  return workload;
}

static void by_poise(const poise_machine* machine, const poise_workload* workload,
                     const double* cost, const uint32_t* old, uint32_t* map) {
  (void)cost;
  check(poise_plan(machine, workload, old, "poise:steps=10", 0, map));
}

static const double* sorted_cost;
static int by_cost(const void* a, const void* b) {
  const int i = *(const int*)a, j = *(const int*)b;
  if (sorted_cost[i] != sorted_cost[j]) return sorted_cost[i] > sorted_cost[j] ? -1 : 1;
  return i - j;
}

/* AMReX's knapsack: takes the most expensive box first and gives each box to the rank with the
   least cost so far. */
static void by_knapsack(const poise_machine* machine, const poise_workload* workload,
                        const double* cost, const uint32_t* old, uint32_t* map) {
  double load[kRanks] = {0};
  int order[kBoxes], i, r;
  (void)machine, (void)workload, (void)old;
  for (i = 0; i < kBoxes; ++i) order[i] = i;
  sorted_cost = cost;
  qsort(order, kBoxes, sizeof order[0], by_cost);
  for (i = 0; i < kBoxes; ++i) {
    int least = 0;
    for (r = 1; r < kRanks; ++r)
      if (load[r] < load[least]) least = r;
    map[order[i]] = (uint32_t)least;
    load[least] += cost[order[i]];
  }
}

/* Returns the box at this position of the Morton curve. The bits of the position are those of x, y
   and z in turn. */
static int box_on_curve(int position) {
  int x = 0, y = 0, z = 0, bit;
  for (bit = 0; 1 << bit < kSide; ++bit) {
    x |= (position >> (3 * bit) & 1) << bit;
    y |= (position >> (3 * bit + 1) & 1) << bit;
    z |= (position >> (3 * bit + 2) & 1) << bit;
  }
  return box_at(x, y, z);
}

/* AMReX's space-filling curve: cuts the curve into pieces of equal cost. */
static void by_curve(const poise_machine* machine, const poise_workload* workload,
                     const double* cost, const uint32_t* old, uint32_t* map) {
  double all = 0, before = 0;
  int i;
  (void)machine, (void)workload, (void)old;
  for (i = 0; i < kBoxes; ++i) all += cost[i];
  for (i = 0; i < kBoxes; ++i) {
    const int box = box_on_curve(i);
    const int rank = (int)((before + cost[box] / 2) / all * kRanks);
    map[box] = (uint32_t)(rank < kRanks ? rank : kRanks - 1);
    before += cost[box];
  }
}

static void keep(const poise_machine* machine, const poise_workload* workload, const double* cost,
                 const uint32_t* old, uint32_t* map) {
  int i;
  (void)machine, (void)workload, (void)cost;
  for (i = 0; i < kBoxes; ++i) map[i] = old[i];
}

/* Prints the seconds that all steps take and that moving boxes takes, by the cost formulas of the
   machine. */
static void run(const char* name, Map make, const poise_machine* machine) {
  double cost[kBoxes], step_s = 0, moving_s = 0;
  uint32_t old[kBoxes], map[kBoxes];
  unsigned long moved = 0;
  int phase, i;
  costs_at(0, cost);
  by_curve(machine, NULL, cost, NULL, old);
  for (phase = 1; phase <= kPhases; ++phase) {
    poise_workload* workload;
    poise_metrics metrics = {0};
    costs_at(phase, cost);
    workload = workload_of(cost);
    make(machine, workload, cost, old, map);
    check(poise_evaluate(machine, workload, old, map, &metrics));
    step_s += kSteps * metrics.iteration_s;
    moving_s += metrics.migration_s;
    moved += (unsigned long)metrics.migrations;
    for (i = 0; i < kBoxes; ++i) old[i] = map[i];
    poise_workload_destroy(workload);
  }
  printf("%-10s steps %.3f s, moves %.3f s, together %.3f s, %5lu boxes moved\n", name, step_s,
         moving_s, step_s + moving_s, moved);
}

int main(void) {
  poise_machine* machine = NULL;
  check(poise_machine_create("node:4 core:16", &machine));
  run("keep", keep, machine);
  run("knapsack", by_knapsack, machine);
  run("curve", by_curve, machine);
  run("poise", by_poise, machine);
  poise_machine_destroy(machine);
  return 0;
}
