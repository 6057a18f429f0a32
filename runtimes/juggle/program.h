// The program under the balancer: started, sent the signals that were meant for it, waited for.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <vector>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// The statuses of shells for a command that cannot be run.
constexpr int kNotFound = 127, kNotExecutable = 126;

/// How a program ended; `text` says why it could not be run.
struct Ending {
  int status = 0;  // of exit, when signal is 0
  int signal = 0;  // that ended it
  std::string text = {};
};

/// Receives signals to this process through a file descriptor: those to forward to the program, and
/// SIGCHLD when a child has ended. Throws if the system refuses that.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Becomes readable when there is one.
  int descriptor() const { return descriptor_.get(); }
  /// The next one; nothing when there is none. Does not wait.
  std::optional<signalfd_siginfo> next() const;
  /// In a child: as it was before.
  void restore() const;

 private:
  sigset_t mask_before_ = {};
  struct sigaction child_before_ = {};
  Descriptor descriptor_;
};

/// Replaces this process by the command. Returns only if that fails.
Ending replace_process_by(const std::vector<std::string>& command);

/// A running program, or another that is followed.
class Program {
 public:
  /// Starts the command, to which signals go as they did before `signals`. Throws when no process
  /// can be made.
  static Program start(const std::vector<std::string>& command, const Signals& signals);
  /// Follows a process that runs. Throws Error when there is none or it is not the user's own.
  static Program attach(pid_t pid);

  pid_t pid() const { return pid_; }
  bool is_child() const { return is_child_; }
  /// Becomes readable when an attached program ends. -1 for a child, of which SIGCHLD tells, and
  /// where the kernel has no such descriptor (before Linux 5.3, or refused): then ended() tells.
  int pidfd() const { return pidfd_.get(); }

  /// Collects the dead, adopted ones too, and tells how the program ended once it has. Of an
  /// attached one no status is known.
  std::optional<Ending> ended();

  /// Forwards a signal that a process sent; the terminal sends its signals to the program itself.
  void forward(int signal, int code) const;

 private:
  pid_t pid_ = -1;
  bool is_child_ = false;
  std::optional<std::uint64_t> start_time_ = {};  // of an attached one
  Descriptor pidfd_;
  std::optional<Ending> ending_;
};

/// Ends this process as the program ended: the same status, or by the same signal.
[[noreturn]] void end_like(const Ending& ending);

}  // namespace poise::juggle
