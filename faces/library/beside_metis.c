/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that links the METIS with which libpoise was built, and takes the address of one of its
   functions. It is no position-independent executable, so libpoise sees an address in this program
   instead of one in METIS. libpoise must not take that for another METIS. */
#include <metis.h>
#include <poise/poise.h>
#include <stdio.h>

enum { kTasks = 8 };

typedef int Partition(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, real_t*,
                      real_t*, idx_t*, idx_t*, idx_t*);

int main(void) {
  const double load_s[kTasks] = {1, 1, 1, 1, 1, 1, 1, 1};
  uint32_t places[kTasks];
  poise_machine* machine = NULL;
  poise_workload* workload = NULL;
  Partition* volatile partition = METIS_PartGraphKway;
  const int wrong = partition == NULL || poise_machine_create("core:2", &machine) != POISE_OK ||
                    poise_workload_create(kTasks, load_s, &workload) != POISE_OK ||
                    poise_plan(machine, workload, NULL, "metis", 0, places) != POISE_OK;
  if (wrong) printf("%s\n", poise_last_error());
  poise_workload_destroy(workload);
  poise_machine_destroy(machine);
  if (wrong) return 1;
  puts("all is right");
  return 0;
}
