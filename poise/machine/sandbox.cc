// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/sandbox.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace poise {

namespace {

// The last byte of a complete answer. Without it, the answer was truncated.
constexpr char kResult = '\1';
constexpr char kError = '\2';

/// Size of this process's address space. It is large if the program runs under sanitizers.
std::uint64_t bytes_mapped() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return std::uint64_t{pages} * ::sysconf(_SC_PAGESIZE);
}

void limit(decltype(RLIMIT_CPU) resource, std::uint64_t value) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
  ::setrlimit(resource, &now);
}

void confine(const SandboxLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE})
    ::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  if (const std::uint64_t mapped = bytes_mapped(); mapped > 0)
    limit(RLIMIT_AS, mapped + limits.bytes);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nothing, STDERR_FILENO);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(count);
  }
  return true;
}

/// Runs `work` in the child process, which exits without calling the parent's exit handlers.
[[noreturn]] void live(int out, const std::function<std::string()>& work,
                       const SandboxLimits& limits) {
  // If the caller has closed its stderr, the pipe may have received file descriptor 2 (stderr),
  // which confine() redirects. Then the pipe is moved to another descriptor.
  if (out == STDERR_FILENO) out = ::fcntl(out, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  confine(limits);
  try {
    std::string answer;
    try {
      answer = work() + kResult;
    } catch (const Error& error) {
      answer = std::string(error.what()) + kError;
    }
    ::_exit(write_all(out, answer) ? 0 : 1);
  } catch (...) {
    ::_exit(1);
  }
}

/// Reads from a pipe until the writer closes it; false if the deadline comes first.
bool read_all(int fd, double deadline_s, std::string& bytes) {
  char buffer[1 << 14];
  while (true) {
    const double remaining_s = deadline_s - wall_now_s();
    if (remaining_s <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, std::ceil(std::min(remaining_s, 60.0) * 1e3)) <= 0) continue;
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    bytes.append(buffer, count);
  }
}

}  // namespace

std::optional<std::string> in_sandbox(const std::function<std::string()>& work,
                                      const SandboxLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot create a pipe: {}", std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) live(ends[1], work, limits);
  const int why = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail("cannot start a process: {}", std::strerror(why));
  }
  const double deadline_s = wall_now_s() + limits.seconds;
  std::string answer;
  const bool is_done = read_all(ends[0], deadline_s, answer);
  ::close(ends[0]);
  ::kill(child, SIGKILL);  // the child has answered, or its time is over
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!is_done || answer.empty()) return std::nullopt;
  const char last = answer.back();
  answer.pop_back();
  if (last == kError) throw Error(answer);
  if (last != kResult) return std::nullopt;
  return answer;
}

}  // namespace poise
