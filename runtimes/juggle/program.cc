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

Descriptor pidfd_of(pid_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// In the child: becomes the command, or writes errno to the pipe.
[[noreturn]] void become(const std::vector<std::string>& command, const sigset_t& mask, int said) {
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int error = errno;
  if (::write(said, &error, sizeof error) != sizeof error) ::_exit(kNotExecutable);
  ::_exit(error == ENOENT ? kNotFound : kNotExecutable);
}

bool is_over(int pidfd) {
  pollfd end{pidfd, POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

}  // namespace

sigset_t forwarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH})
    ::sigaddset(&set, signal);
  return set;
}

Program Program::start(const std::vector<std::string>& command, const sigset_t& mask) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_at("make a pipe");
  const Descriptor said(ends[0]);
  Descriptor say(ends[1]);
  Program program;
  program.is_child_ = true;
  program.pid_ = ::fork();
  if (program.pid_ < 0) fail_at("start a process");
  if (program.pid_ == 0) become(command, mask, say.get());
  say = Descriptor();
  int error = 0;
  ssize_t count;
  do count = ::read(said.get(), &error, sizeof error);
  while (count < 0 && errno == EINTR);
  program.pidfd_ = pidfd_of(program.pid_);
  if (!program.pidfd_) fail_at("watch a process");
  if (count == sizeof error) {
    ::waitpid(program.pid_, nullptr, 0);
    program.ending_ =
        Ending{.status = error == ENOENT ? kNotFound : kNotExecutable,
               .text = fmt::format("cannot run \"{}\": {}", command[0], std::strerror(error))};
  }
  return program;
}

Program Program::attach(pid_t pid) {
  Program program;
  program.pid_ = pid;
  program.pidfd_ = pidfd_of(pid);
  struct stat status {};
  if (!program.pidfd_ || ::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0)
    fail("--attach {}: no such process; `pgrep -u $USER NAME` finds one", pid);
  if (status.st_uid != ::geteuid())
    fail("--attach {}: the process belongs to another user; attach as that user", pid);
  char none;
  if (::readlink(fmt::format("/proc/{}/exe", pid).c_str(), &none, 1) < 0)
    fail("--attach {}: a thread of the kernel or a dead process has nothing to balance", pid);
  return program;
}

std::optional<Ending> Program::ended() {
  if (ending_) return ending_;
  if (!is_child_) return is_over(pidfd_.get()) ? std::optional<Ending>(Ending{}) : std::nullopt;
  int status = 0;
  for (pid_t dead; (dead = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (dead != pid_) continue;
    ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                                  : Ending{.status = WEXITSTATUS(status)};
  }
  return ending_;
}

void Program::hand_on(int signal, int code) const {
  if (!ending_ && code != SI_KERNEL) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, 0, 0);
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
