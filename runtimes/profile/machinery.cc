// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/machinery.h"

#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace poise::profile {

namespace {

// The lowest file descriptor that the profile uses: programs may expect lower ones to be free.
constexpr int kFirstDescriptor = 500;

void read_schedstat(int file, Machinery& result) {
  char text[64];
  const ssize_t size = file < 0 ? -1 : ::pread(file, text, sizeof text - 1, 0);
  if (size <= 0) return;
  text[size] = '\0';
  parse_schedstat(text, result.run_ns, result.queued_ns);
}

}  // namespace

ThreadMeter::ThreadMeter() {
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  schedstat_ = ::fcntl(file, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (schedstat_ < 0)
    schedstat_ = file;
  else
    ::close(file);
}

ThreadMeter::~ThreadMeter() {
  if (schedstat_ >= 0) ::close(schedstat_);
}

Machinery ThreadMeter::read() const {
  Machinery result;
  read_schedstat(schedstat_, result);
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  result.cpu = ::sched_getcpu();
  return result;
}

std::int64_t ThreadMeter::queued_ns() const {
  Machinery result;
  read_schedstat(schedstat_, result);
  return result.queued_ns;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

bool parse_schedstat(const char* text, std::int64_t& run_ns, std::int64_t& queued_ns) {
  return std::sscanf(text, "%" SCNd64 " %" SCNd64, &run_ns, &queued_ns) == 2;
}

}  // namespace poise::profile
