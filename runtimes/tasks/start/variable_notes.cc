// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/variable_notes.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "poise/base/variables.h"

extern char** environ;

namespace poise::tasks {

void note_variables(MPI_Comm communicator, unsigned readers) {
  static std::atomic<bool> is_told = false;
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  if (is_told.exchange(true) || rank != 0) return;
  for (const std::string& note : notes_on(environ, readers))
    std::fprintf(stderr, "poise: %s\n", note.c_str());
}

}  // namespace poise::tasks
