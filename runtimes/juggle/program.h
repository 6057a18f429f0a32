// The program under the balancer: started, sent the signals that were meant for it, waited for.
#pragma once

#include <csignal>
#include <optional>
#include <string>
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

/// The signals that are handed on to the program, as a set; the balancer blocks them.
sigset_t forwarded_signals();

/// A running program, or another that is followed.
class Program {
 public:
  /// Starts the command with the signal mask `mask`. Throws when no process can be made.
  static Program start(const std::vector<std::string>& command, const sigset_t& mask);
  /// Follows a process that runs. Throws Error when there is none or it is not the user's own.
  static Program attach(pid_t pid);

  pid_t pid() const { return pid_; }
  bool is_child() const { return is_child_; }
  /// Becomes readable when the program ends.
  int pidfd() const { return pidfd_.get(); }

  /// Collects the dead, adopted ones too, and tells how the program ended once it has. Of an
  /// attached one no status is known.
  std::optional<Ending> ended();

  /// Hands a signal on when a process sent it: what the terminal sends, the program has got itself.
  void hand_on(int signal, int code) const;

 private:
  pid_t pid_ = -1;
  bool is_child_ = false;
  Descriptor pidfd_;
  std::optional<Ending> ending_;
};

/// Ends this process as the program ended: the same status, or by the same signal.
[[noreturn]] void end_like(const Ending& ending);

}  // namespace poise::juggle
