// SPDX-License-Identifier: BSD-3-Clause
// Finds out how the threads of a process wait for each other, as far as its settings and libraries
// show it.
#pragma once

#include <string_view>
#include <sys/types.h>

namespace poise::juggle {

/// True if the threads of a process keep their cpus busy while they wait. `environ` is the text of
/// /proc/PID/environ (variables separated by NUL). There, OpenMP's OMP_WAIT_POLICY=active, GCC's
/// GOMP_SPINCOUNT=infinite, and LLVM's and Intel's KMP_BLOCKTIME=infinite and
/// KMP_LIBRARY=turnaround request busy waiting. `maps` is the text of /proc/PID/maps, which shows
/// the loaded libraries: ranks of MPICH and of Open MPI poll for messages, and threads of ggml
/// (llama.cpp) spin at their barriers.
bool waits_actively(std::string_view environ, std::string_view maps);

/// True if threads of the process keep their cpus busy while they wait, according to
/// /proc/PID/environ and /proc/PID/maps. Returns false if these files cannot be read.
bool waits_actively(pid_t process);

/// True if the process reports the waits of its threads: it has opened the table of wait_table.h.
/// Also true if the process has ended, because its table can no longer be seen.
bool reports_waits(pid_t process);

}  // namespace poise::juggle
