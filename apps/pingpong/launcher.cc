// SPDX-License-Identifier: BSD-3-Clause

#include "apps/pingpong/launcher.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "poise/base/clock.h"

namespace poise::apps {

namespace {

constexpr std::size_t kMaxErrorBytes = 1 << 16;
constexpr double kGrace_s = 2;

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_at("make a pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  int ends[2] = {-1, -1};
};

/// A child in its own process group. The destructor kills the group unless the child has ended.
class Child {
 public:
  Child(const std::string& command, const Pipe& out, const Pipe& err) : pid_(::fork()) {
    if (pid_ < 0) fail_at("start a process");
    if (pid_ > 0) {
      ::setpgid(pid_, pid_);
      return;
    }
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ~Child() {
    if (is_done_) return;
    ::kill(-pid_, SIGTERM);
    const double deadline_s = wall_now_s() + kGrace_s;
    while (!is_over() && wall_now_s() < deadline_s)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(-pid_, SIGKILL);
    if (!is_done_) ::waitpid(pid_, &status_, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_over() {
    if (!is_done_) is_done_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return is_done_;
  }
  int status() const { return status_; }

 private:
  pid_t pid_;
  int status_ = 0;
  bool is_done_ = false;
};

/// Appends the available bytes to `text`. Returns false at the end of the file.
bool read_some(int fd, std::string& text) {
  char buffer[1 << 14];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer, count);
  return count > 0;
}

void hand_on_lines(std::string& text, const std::function<void(std::string_view)>& on_line) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    on_line(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
}

/// Returns the first line that contains a letter, because launchers print lines of dashes around
/// their messages.
std::string said(const std::string& errors) {
  std::size_t begin = 0;
  while (begin < errors.size()) {
    const std::size_t end = std::min(errors.find('\n', begin), errors.size());
    const std::string line = errors.substr(begin, end - begin);
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c) != 0; }))
      return ": " + line;
    begin = end + 1;
  }
  return "";
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

void run_lines(const std::string& command, double timeout_s,
               const std::function<void(std::string_view)>& on_line) {
  // If the parent of this process ignores SIGCHLD, so does this process. The kernel would then
  // discard the exit status of the command, and this function would wait for the status until the
  // time limit.
  std::signal(SIGCHLD, SIG_DFL);
  Pipe out, err;
  Child child(command, out, err);
  out.close_end(1);
  err.close_end(1);
  const double deadline_s = wall_now_s() + timeout_s;
  std::string lines, errors;
  bool out_is_open = true, err_is_open = true;
  while (out_is_open || err_is_open || !child.is_over()) {
    if (wall_now_s() > deadline_s)
      throw std::runtime_error(
          fmt::format("\"{}\" did not end within {:.0f} s{}", command, timeout_s, said(errors)));
    pollfd ends[] = {{out_is_open ? out.ends[0] : -1, POLLIN, 0},
                     {err_is_open ? err.ends[0] : -1, POLLIN, 0}};
    ::poll(ends, 2, 50);
    if (ends[0].revents != 0) out_is_open = read_some(out.ends[0], lines);
    if (ends[1].revents != 0) err_is_open = read_some(err.ends[0], errors);
    if (errors.size() > kMaxErrorBytes) errors.resize(kMaxErrorBytes);
    hand_on_lines(lines, on_line);
  }
  if (child.status() != 0)
    throw std::runtime_error(
        fmt::format("\"{}\" {}{}", command, end_of(child.status()), said(errors)));
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace poise::apps
