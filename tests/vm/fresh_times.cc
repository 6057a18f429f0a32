// SPDX-License-Identifier: BSD-3-Clause
// Every 100 ms, reads the cpu time of a process that computes alone on the last cpu, in two ways:
// from schedstat, and from the counter that the thread balancer uses on cpus without clock ticks.
// For each way, prints how many readings are larger than the reading before.
#include <csignal>
#include <cstdio>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/threads.h"

using namespace poise::juggle;

namespace {

constexpr int kReadings = 20;

double run_s(const ThreadFinder& finder) {
  const auto time = read_time(finder.threads().begin()->second);
  return time ? time->run_s : 0;
}

}  // namespace

int main() {
  const Cpus cpus = allowed_cpus();
  set_affinity(0, CpuSet({cpus.front()}));
  const pid_t child = ::fork();
  if (child == 0) {
    set_affinity(0, CpuSet({cpus.back()}));
    for (volatile bool computes = true; computes;) {
    }
  }
  ThreadFinder plain(child, false, -1, 1), counting(child, false, -1, 1);
  counting.count_run_times();
  ::usleep(500'000);
  plain.scan();
  counting.scan();
  int fresh = 0, fresh_counted = 0;
  if (!counting.lacks_clocks()) {
    double last_s = run_s(plain), last_counted_s = run_s(counting);
    for (int i = 0; i < kReadings; ++i) {
      ::usleep(100'000);
      const double now_s = run_s(plain), now_counted_s = run_s(counting);
      fresh += now_s > last_s;
      fresh_counted += now_counted_s > last_counted_s;
      last_s = now_s;
      last_counted_s = now_counted_s;
    }
  }
  std::printf("of %d readings new: schedstat %d, counter %d\n", kReadings, fresh, fresh_counted);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return 0;
}
