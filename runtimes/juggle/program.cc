// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/program.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poise/base/error.h"

namespace poise::juggle {

namespace {

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

Descriptor pidfd_of(pid_t pid) { return Descriptor(::syscall(SYS_pidfd_open, pid, 0)); }

bool is_readable(int descriptor) {
  pollfd end{descriptor, POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

/// Replaces this process by the command, or returns errno.
int exec_error(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return errno;
}

Ending ending_of_failure(const std::vector<std::string>& command, int error) {
  const std::string& name = command[0];
  // A name with a slash is not searched for in PATH.
  const bool exists = name.find('/') != name.npos && ::access(name.c_str(), F_OK) == 0;
  const char* const reason = error == ENOENT && exists
                                 ? "the file exists, but the interpreter that it needs does not"
                                 : std::strerror(error);
  return {.status = error == ENOENT ? kNotFound : kNotExecutable,
          .text = fmt::format("cannot run \"{}\": {}", name, reason)};
}

/// True if this process leads the process group in the foreground of its terminal. Then the shell
/// that started this process waits for it to end or to stop. Other processes, such as a script, do
/// not notice that their child stops.
bool is_job_of_shell() {
  if (::getpid() != ::getpgrp()) return false;
  const Descriptor terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return terminal && ::tcgetpgrp(terminal.get()) == ::getpgrp();
}

/// Runs in the child process and replaces it by the command. If that fails, writes errno to the
/// pipe and exits.
[[noreturn]] void exec_or_report(const std::vector<std::string>& command, const Signals& signals,
                                 const Environment& variables, int said) {
  signals.restore();
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const int error = exec_error(command);
  if (::write(said, &error, sizeof error) != sizeof error) ::_exit(kNotExecutable);
  ::_exit(error == ENOENT ? kNotFound : kNotExecutable);
}

}  // namespace

Signals::Signals() {
  sigset_t set;
  ::sigemptyset(&set);
  // The signals that one process may send to another. Batch systems send SIGXCPU, SIGURG and
  // SIGPWR. Blocking SIGSEGV and similar signals does not hide a crash of this process: if a
  // process itself causes such a signal, the kernel ends the process even if the signal is blocked.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP,
                           SIGWINCH, SIGURG, SIGPWR, SIGIO, SIGVTALRM, SIGPROF, SIGSTKFLT, SIGCHLD})
    ::sigaddset(&set, signal);
  for (const int signal : kCoreSignals) ::sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ::sigaddset(&set, signal);
  descriptor_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) fail_at("receive signals through a file descriptor");
  if (::sigprocmask(SIG_BLOCK, &set, &mask_before_) != 0) fail_at("block signals");
  // If SIGCHLD were ignored, the kernel would discard the exit statuses of children.
  struct sigaction child {};
  child.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &child, &child_before_);
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, &pipe_before_);
}

Signals::~Signals() {
  // Discards the signals that have arrived. They were meant for the program, which has ended. If a
  // signal stayed pending, it would end this process when restore() unblocks it, and the program's
  // exit status would be lost.
  while (next()) {
  }
  restore();
}

void Signals::restore() const {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<signalfd_siginfo> Signals::next() const {
  signalfd_siginfo info;
  return ::read(descriptor(), &info, sizeof info) == sizeof info ? std::optional(info)
                                                                 : std::nullopt;
}

Ending replace_process_by(const std::vector<std::string>& command) {
  return ending_of_failure(command, exec_error(command));
}

Program Program::start(const std::vector<std::string>& command, const Signals& signals,
                       const Environment& variables) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_at("make a pipe");
  const Descriptor said(ends[0]);
  Descriptor say(ends[1]);
  Program program;
  program.is_child_ = true;
  program.pid_ = ::fork();
  if (program.pid_ < 0) fail_at("start a process");
  if (program.pid_ == 0) exec_or_report(command, signals, variables, say.get());
  say = Descriptor();
  int error = 0;
  ssize_t count;
  do count = ::read(said.get(), &error, sizeof error);
  while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    ::waitpid(program.pid_, nullptr, 0);
    program.ending_ = ending_of_failure(command, error);
  }
  return program;
}

Program Program::attach(pid_t pid) {
  Program program;
  program.pid_ = pid;
  program.pidfd_ = pidfd_of(pid);
  struct stat status {};
  program.start_time_ = start_time_of(pid, pid);
  if (!program.start_time_ || ::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0)
    fail("--attach {}: there is no such process; find its id with `pgrep -u $USER NAME`", pid);
  if (status.st_uid != ::geteuid())
    fail("--attach {}: the process belongs to another user; attach as that user", pid);
  char none;
  if (::readlink(fmt::format("/proc/{}/exe", pid).c_str(), &none, 1) < 0) {
    if (errno == EACCES)
      fail(
          "--attach {}: the system does not allow access to the process (/proc/{}/exe: {}); start "
          "its program with `poise juggle -- COMMAND`",
          pid, pid, std::strerror(EACCES));
    fail("--attach {}: the process has ended or is a kernel thread; nothing to balance", pid);
  }
  return program;
}

std::optional<Ending> Program::ended() {
  if (ending_) return ending_;
  if (!is_child_) {
    const bool is_over = pidfd_ ? is_readable(pidfd_.get())
                                : state_of(pid_) == 'Z' || start_time_of(pid_, pid_) != start_time_;
    return is_over ? std::optional<Ending>(Ending{}) : std::nullopt;
  }
  int status = 0;
  for (pid_t dead; (dead = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (dead != pid_) continue;
    ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                                  : Ending{.status = WEXITSTATUS(status)};
  }
  return ending_;
}

void Program::forward(int signal, int code) {
  if (signal == SIGTSTP) is_told_to_stop_ = true;
  if (signal == SIGCONT) is_told_to_stop_ = false;
  // pid_ still belongs to the program, because the kernel does not reuse it before the exit status
  // has been collected.
  if (is_child_ && !ending_ && code != SI_KERNEL) ::kill(pid_, signal);
}

void Program::stop_with_it() {
  siginfo_t stop{};
  const bool is_stopped =
      ::waitid(P_PID, pid_, &stop, WSTOPPED | WNOHANG | WNOWAIT) == 0 && stop.si_pid == pid_;
  if (!is_child_ || ending_ || !is_stopped || !(is_told_to_stop_ || is_job_of_shell())) return;
  is_told_to_stop_ = false;
  stop_like_terminal();
}

void stop_like_terminal() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

void ignore_signals_of_writing() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
}

void end_like(const Ending& ending) {
  if (ending.signal == 0) std::exit(ending.status);
  std::fflush(nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(ending.signal, SIG_DFL);
  sigset_t just;
  ::sigemptyset(&just);
  ::sigaddset(&just, ending.signal);
  ::sigprocmask(SIG_UNBLOCK, &just, nullptr);
  ::raise(ending.signal);
  std::exit(128 + ending.signal);
}

}  // namespace poise::juggle
