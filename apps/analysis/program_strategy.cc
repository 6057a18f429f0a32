// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/program_strategy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "apps/analysis/problem_arrays.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/trace/placement_file.h"

extern char** environ;

namespace poise::apps {

namespace {

/// Maximum size of an answer. A placement of the largest trace that Poise can read is smaller.
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 30;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw SystemError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int operator[](std::size_t end) const { return ends_[end]; }
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Blocks SIGPIPE in this thread as long as this object exists. If the strategy's program ends
/// before it has read its input, write() then returns an error instead of ending the calling
/// program.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once = {};
    while (!was_pending_ && ::sigtimedwait(&sigpipe_, nullptr, &at_once) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

  /// The signals that this thread had blocked before this object was made.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t sigpipe_, before_;
  bool was_pending_ = false;
};

/// A running program in its own process group. The destructor kills the whole group.
class Child {
 public:
  Child(const std::string& command, Pipe& in, Pipe& out, const sigset_t& blocked)
      : command_(command) {
    std::vector<std::string> words;
    for (const std::string_view word : split(command, ' '))
      if (!word.empty()) words.emplace_back(word);
    if (words.empty()) fail("exec: a command is missing; example: exec:./mine.py");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setsigmask(&attributes, &blocked);
    const int error =
        ::posix_spawnp(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      pid_ = -1;
      fail("exec:{}: cannot start the command: {}", command, std::strerror(error));
    }
    in.close(0);
    out.close(1);
  }
  ~Child() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    wait(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the wait status if the program has ended.
  std::optional<int> wait(int flags) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
    }
    if (ended == 0) return std::nullopt;
    ::kill(-pid_, SIGKILL);  // kills processes that the program left behind
    pid_ = -1;
    return status;
  }

 private:
  std::string command_;
  pid_t pid_ = -1;
};

int milliseconds_until(double end_s) {
  constexpr double kMost_s = 2e6;  // in milliseconds this is 2e9, which fits into an int
  return std::ceil(std::clamp(end_s - wall_now_s(), 0.0, kMost_s) * 1e3);
}

/// Writes the problem and reads the answer alternately, as the pipes allow, so that neither process
/// blocks the other. Returns false if the answer is not complete at the time `end_s`.
bool exchange(std::string_view question, Pipe& in, Pipe& out, std::string& answer, double end_s) {
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  std::array<char, 1 << 16> buffer;
  for (;;) {
    if (question.empty()) in.close(1);
    std::array<pollfd, 2> ends{{{out[0], POLLIN, 0}, {in[1], POLLOUT, 0}}};
    const int ready = ::poll(ends.data(), ends.size(), milliseconds_until(end_s));
    if (ready == 0) return false;
    if (ready < 0 && errno != EINTR) return false;
    if (ends[1].revents != 0 && in[1] >= 0) {
      const ssize_t count = ::write(in[1], question.data(), question.size());
      if (count > 0) question.remove_prefix(count);
      if (count < 0 && errno != EAGAIN && errno != EINTR)
        question = {};  // the program has closed its standard input, so nothing more is sent
    }
    if (ends[0].revents == 0) continue;
    const ssize_t count = ::read(out[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    answer.append(buffer.data(), count);
    if (answer.size() > kMaxAnswerBytes) return true;
  }
}

/// Waits for the end of a program that closed its output but may still run. Returns its wait
/// status, or nothing if it still runs at the time `end_s`.
std::optional<int> status_until(Child& child, double end_s) {
  for (;;) {
    if (const auto status = child.wait(WNOHANG)) return status;
    if (wall_now_s() >= end_s) return std::nullopt;
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace

Placement placement_of_program(const std::string& command, const Problem& problem, double limit_s) {
  const std::string question = json_of(ProblemArrays(problem).problem());
  const double end_s = wall_now_s() + limit_s;
  const NoSigpipe no_sigpipe;
  Pipe in, out;
  Child child(command, in, out, no_sigpipe.before());
  std::string answer;
  std::optional<int> status;
  const bool has_answered = exchange(question, in, out, answer, end_s);
  // Closes the program's stdin, because a program that has answered may still wait for end of file.
  in.close(1);
  if (has_answered && answer.size() <= kMaxAnswerBytes) status = status_until(child, end_s);
  if (answer.size() > kMaxAnswerBytes)
    fail("exec:{}: the command wrote more than {} MiB; it must write only one number per task",
         command, kMaxAnswerBytes >> 20);
  if (!status)
    fail(
        "exec:{}: the command did not end within {} s; the program poise can raise this "
        "limit with the option --exec-limit, but libpoise has no such option",
        command, limit_s);
  if (WIFSIGNALED(*status))
    fail("exec:{}: the command was ended by signal {}", command, ::strsignal(WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0)
    fail("exec:{}: the command exited with status {}", command, WEXITSTATUS(*status));
  if (answer.empty())
    fail("exec:{}: the command wrote nothing; it must write a placement to stdout", command);
  return placement_from_text("the output of " + command, answer);
}

}  // namespace poise::apps
