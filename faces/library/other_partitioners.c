/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that links a METIS and a Scotch of its own, with 64-bit integers. Their functions take
   the place of those with which libpoise was built. libpoise must refuse to call them. */
#include <poise/poise.h>
#include <stdio.h>
#include <string.h>

enum { kTasks = 8 };

int METIS_SetDefaultOptions(int64_t* options);
int METIS_PartGraphKway(void);
int METIS_PartGraphRecursive(void);
int SCOTCH_numSizeof(void);

int METIS_SetDefaultOptions(int64_t* options) {
  int i;
  for (i = 0; i < 40; ++i) options[i] = -1;
  return 1;
}
int METIS_PartGraphKway(void) { return -4; }
int METIS_PartGraphRecursive(void) { return -4; }
int SCOTCH_numSizeof(void) { return 8; }

int main(void) {
  const double load_s[kTasks] = {1, 1, 1, 1, 1, 1, 1, 1};
  const char* const others[] = {"metis", "scotch"};
  uint32_t places[kTasks];
  poise_machine* machine = NULL;
  poise_workload* workload = NULL;
  int i, wrong = poise_machine_create("core:2", &machine) != POISE_OK ||
                 poise_workload_create(kTasks, load_s, &workload) != POISE_OK ||
                 poise_plan(machine, workload, NULL, "poise", 0, places) != POISE_OK;
  for (i = 0; i < 2; ++i)
    if (poise_plan(machine, workload, NULL, others[i], 0, places) != POISE_BAD_INPUT ||
        strstr(poise_last_error(), "the program links another") == NULL)
      wrong = printf("%s is not refused: %s\n", others[i], poise_last_error());
  poise_workload_destroy(workload);
  poise_machine_destroy(machine);
  if (wrong) return 1;
  puts("all is right");
  return 0;
}
