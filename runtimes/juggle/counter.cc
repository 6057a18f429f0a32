// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/counter.h"

#include <fcntl.h>
#include <iterator>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::juggle {

namespace {

constexpr std::string_view kSources[] = {"auto", "time", "instructions"};

}  // namespace

Descriptor open_counter(pid_t thread, Counted what) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  if (what == Counted::time) {
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_TASK_CLOCK;
  }
  event.exclude_kernel = event.exclude_hv = 1;  // unprivileged users may count only in user mode
  event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  Descriptor counter(::syscall(SYS_perf_event_open, &event, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
  // Restoring an affinity needs one more open file (ThreadFinder::add_thread). If the limit on open
  // files leaves no room for that file, closes the counter again.
  if (counter && !Descriptor(::fcntl(counter.get(), F_DUPFD_CLOEXEC, 0))) return Descriptor();
  return counter;
}

std::optional<double> read_counter(const Descriptor& counter) {
  std::uint64_t read[3];  // count, time enabled, time running
  if (!counter || ::read(counter.get(), read, sizeof read) != sizeof read) return {};
  if (read[2] == 0) return 0.0;
  return read[0] * (1.0 * read[1] / read[2]);
}

ProgressSource progress_source_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kSources); ++i)
    if (name == kSources[i]) return static_cast<ProgressSource>(i);
  fail("{}", unknown_name("source of progress", name, kSources));
}

}  // namespace poise::juggle
