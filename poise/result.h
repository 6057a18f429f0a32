// SPDX-License-Identifier: BSD-3-Clause
// The result codes of Poise's C interfaces: libpoise (poise/poise.h) and tasks (poise/tasks.h).
#pragma once

/* What a function of these interfaces returns. */
enum poise_result {
  POISE_OK = 0,
  POISE_FAILED = 1,    /* the system fails (disk, memory), or a task failed */
  POISE_BAD_INPUT = 2, /* a wrong argument or call; it had no effect */
  POISE_CANCELLED = 3  /* a callback asked to stop; nothing was returned */
};
