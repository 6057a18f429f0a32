// SPDX-License-Identifier: BSD-3-Clause
// Finds out how the threads of a process wait for each other, as far as its settings and libraries
// show it.
#pragma once

#include <string_view>
#include <sys/types.h>

namespace poise::juggle {

/// True if the threads of a process keep their cpus busy while they wait. `environ` is the text of
/// /proc/PID/environ (variables separated by NUL). Busy waiting is requested by OpenMP's
/// OMP_WAIT_POLICY=active, by GCC's GOMP_SPINCOUNT=infinite, and by LLVM's and Intel's
/// KMP_BLOCKTIME=infinite and KMP_LIBRARY=turnaround. `maps` is the text of /proc/PID/maps, which
/// shows the loaded libraries: ranks that use MPICH or Open MPI poll for messages, threads that use
/// ggml (llama.cpp) spin at their barriers, and the ranks of GROMACS that are threads poll for
/// messages of each other.
bool waits_actively(std::string_view environ, std::string_view maps);

/// True if threads of the process keep their cpus busy while they wait, according to
/// /proc/PID/environ and /proc/PID/maps. Returns false if these files cannot be read.
bool waits_actively(pid_t process);

/// True if the process reports when its threads wait, that is, if it has mapped the table of
/// wait_table.h. Also true if the process has ended, because it is then unknown whether it had
/// mapped the table.
bool reports_waits(pid_t process);

}  // namespace poise::juggle
