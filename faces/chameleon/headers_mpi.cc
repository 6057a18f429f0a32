// SPDX-License-Identifier: BSD-3-Clause
// Compiles the headers as C++11. chameleon.h comes first, because it defines _GNU_SOURCE, which
// selects what the system's headers declare.
// clang-format off: the order matters
#include <chameleon.h>
#include <chameleon_pre_init.h>
#include <chameleon_tools.h>
#include <mpi.h>
// clang-format on

#include "faces/c/poise_tasks.h"

void use_headers();
void use_headers() {
  char text[64];
  cham_t_task_flag_t_value(cham_t_task_local, text);
  chameleon_print(1, "C++11", 0, "%s at " DPxMOD "\n", text, DPxPTR(text));
  chameleon_pre_init();
}
