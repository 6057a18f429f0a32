// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/cpu_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/profile/rank_site.h"
#include "tests/support/test_folder.h"

#include "poise/base/clock.h"
#include "poise/base/file.h"

namespace poise::profile {
namespace {

constexpr std::int64_t kWork_ns = 100'000'000;

void compute() {
  const std::int64_t end = thread_cpu_now_ns() + kWork_ns;
  while (thread_cpu_now_ns() < end) {
  }
}

TEST(cpu_watch, adds_up_the_busy_time_of_each_cpu_from_the_file_proc_stat) {
  const TestFolder folder;
  const std::string file = folder.file("stat");
  write_file(file,
             "cpu  9 9 9 9 9 9 9 9 9 9\n"
             "cpu0 1 2 3 400 50 6 7 80 900 1000\n"
             "cpu12 10 0 0 0 0 0 0 0 0 0\n"
             "intr 5 1 2\n");
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  EXPECT_EQ(busy_ns(file), (std::map<std::int32_t, std::int64_t>{{0, (1 + 2 + 3 + 6 + 7) * tick_ns},
                                                                 {12, 10 * tick_ns}}));
  EXPECT_TRUE(busy_ns(file + ".none").empty());
}

TEST(cpu_watch, distinguishes_the_cpu_time_of_this_process_from_that_of_all_programs) {
  const std::vector<int> cpus = allowed_cpus(0);
  compute();  // not counted, because the watch has not begun
  const CpuWatch watch;
  const pid_t other = ::fork();
  if (other == 0) {
    compute();
    ::_exit(0);
  }
  compute();
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOWAIT);
  const CpuUse before = watch.read(cpus);
  ::waitpid(other, nullptr, 0);
  const CpuUse after = watch.read(cpus);
  EXPECT_GE(before.own_ns, kWork_ns);
  EXPECT_GE(after.own_ns, before.own_ns + kWork_ns);  // includes the child that was waited for
  if (before.all_ns < 0) GTEST_SKIP() << "no /proc/stat";
  // Each of two processes computed for at least kWork_ns. The test requires only half of the sum,
  // because the kernel counts whole ticks, and leaves out what a hypervisor took from this host.
  EXPECT_GT(before.all_ns, kWork_ns);
  const std::vector<int> unknown = {1 << 20};
  EXPECT_EQ(watch.read(unknown).all_ns, -1);
}

}  // namespace
}  // namespace poise::profile
