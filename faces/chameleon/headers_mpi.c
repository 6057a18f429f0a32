// SPDX-License-Identifier: BSD-3-Clause

/* Compiles the headers in strict C99. The first one defines _GNU_SOURCE, which selects what the
   system's headers declare. */
#include <chameleon.h>
#include <chameleon_pre_init.h>
#include <chameleon_tools.h>
#include <mpi.h>

#include "faces/c/poise_tasks.h"

void use_headers(void) {
  char text[64];
  cham_t_task_flag_t_value(cham_t_task_local, text);
  chameleon_print(1, "C99", 0, "%s at " DPxMOD "\n", text, DPxPTR(text));
  chameleon_pre_init();
}
