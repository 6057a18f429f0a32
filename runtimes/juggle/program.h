// SPDX-License-Identifier: BSD-3-Clause
// The program under the balancer. This class starts it, forwards signals to it, and waits for its
// end.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {

/// The exit statuses that shells use for a command that cannot be run.
constexpr int kNotFound = 127, kNotExecutable = 126;

/// How a program ended. `text` says why it could not be run.
struct Ending {
  int status = 0;  // exit status, if `signal` is 0
  int signal = 0;  // the signal that ended the program, or 0
  std::string text = {};
};

/// Names and values of environment variables.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The signals that by default end a process with a core dump. People send them to hung programs.
constexpr int kCoreSignals[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};

/// Receives signals to this process through a file descriptor: those to forward to the program, and
/// SIGCHLD when a child has ended. Ignores SIGPIPE, because the reader of this process's messages
/// may end before the program does. Throws if the system does not deliver signals in this way.
class Signals {
 public:
  Signals();
  /// Discards the signals that have arrived and were not taken by next().
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// A descriptor that becomes readable when a signal has arrived.
  int descriptor() const { return descriptor_.get(); }
  /// The next signal that has arrived, or nothing. Does not wait.
  std::optional<signalfd_siginfo> next() const;
  /// Restores the signal settings that the calling process had before this object was made.
  /// To be called in a child.
  void restore() const;

 private:
  sigset_t mask_before_ = {};
  struct sigaction child_before_ = {}, pipe_before_ = {};
  Descriptor descriptor_;
};

/// Replaces this process by the command. Returns only if that fails.
Ending replace_process_by(const std::vector<std::string>& command);

/// A program that the balancer has started, or a running one to which it is attached.
class Program {
 public:
  /// Starts the command with the signal settings that this process had before `signals` was
  /// created. The command gets the environment of this process plus `variables`. Throws if no
  /// process can be created.
  static Program start(const std::vector<std::string>& command, const Signals& signals,
                       const Environment& variables = {});
  /// Attaches to a running process. Throws Error if it does not exist or belongs to another user.
  static Program attach(pid_t pid);

  pid_t pid() const { return pid_; }
  bool is_child() const { return is_child_; }
  /// A descriptor that becomes readable when an attached program ends. It is -1 for a child, whose
  /// end SIGCHLD reports. It is also -1 if the kernel has no such descriptors (before Linux 5.3) or
  /// refuses them; then poll ended().
  int pidfd() const { return pidfd_.get(); }

  /// Collects ended children, including adopted ones. Returns how the program ended, once it has
  /// ended. The status of an attached program is unknown.
  std::optional<Ending> ended();

  /// Forwards a signal that another process sent. Signals of the terminal reach the program
  /// directly.
  void forward(int signal, int code);

  /// To be called after signals have arrived. Stops this process if the program has stopped because
  /// of SIGTSTP (Ctrl-Z), so that the shell notices. A program that ignores SIGTSTP goes on, and so
  /// does this process. Also stops this process if the program stops for another reason, provided
  /// that this process is the job for which a shell waits.
  void stop_with_it();

 private:
  pid_t pid_ = -1;
  bool is_child_ = false;
  std::optional<std::uint64_t> start_time_ = {};  // set only for an attached program
  Descriptor pidfd_;
  std::optional<Ending> ending_;
  bool is_told_to_stop_ = false;
};

/// Stops this process in the same way as the terminal would if the process did not handle SIGTSTP,
/// so that the shell sees the usual status. To be called while an object of class Signals exists.
void stop_like_terminal();

/// To be called when the program has ended, before reports are written. If their reader has ended,
/// or a file reaches the limit of sizes, writing then fails, but does not end this process, which
/// still has to end like the program.
void ignore_signals_of_writing();

/// Ends this process like the program: with the same status, or by the same signal.
[[noreturn]] void end_like(const Ending& ending);

}  // namespace poise::juggle
