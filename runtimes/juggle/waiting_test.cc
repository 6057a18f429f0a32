// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/waiting.h"

#include <gtest/gtest.h>
#include <string>

namespace poise::juggle {
namespace {

TEST(Waiting, threads_spin_while_they_wait_if_a_setting_of_their_runtime_says_so) {
  for (const char* setting :
       {"OMP_WAIT_POLICY=active", "OMP_WAIT_POLICY=ACTIVE", "GOMP_SPINCOUNT=infinite",
        "KMP_BLOCKTIME=infinite", "KMP_LIBRARY=turnaround"}) {
    std::string environ = "PATH=/bin";
    environ += '\0';
    environ += setting;
    environ += '\0';
    EXPECT_TRUE(waits_actively(environ, "")) << setting;
  }
}

TEST(Waiting, threads_spin_while_they_wait_if_the_process_uses_an_mpi_library_that_polls) {
  EXPECT_TRUE(waits_actively("", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libmpich.so.12\n"));
  EXPECT_TRUE(waits_actively("", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libmpi.so.40\n"));
}

TEST(Waiting, the_threads_that_gromacs_uses_as_ranks_spin_while_they_wait) {
  EXPECT_TRUE(waits_actively("", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libgromacs.so.7\n"));
  EXPECT_TRUE(waits_actively("", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libgromacs_d.so.7\n"));
}

TEST(Waiting, waiting_threads_are_assumed_to_sleep_unless_a_setting_or_library_makes_them_spin) {
  EXPECT_FALSE(waits_actively("", ""));
  EXPECT_FALSE(waits_actively("OMP_WAIT_POLICY=passive", "7f00 r-xp /usr/lib/libgomp.so.1\n"));
  EXPECT_FALSE(waits_actively("MY_OMP_WAIT_POLICY=active", "7f00 r-xp /usr/lib/libc.so.6\n"));
  EXPECT_FALSE(waits_actively(pid_t{-1}));
}

}  // namespace
}  // namespace poise::juggle
