// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/run.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtimes/juggle/claim.h"
#include "runtimes/juggle/guard.h"
#include "runtimes/juggle/tuning.h"
#include "runtimes/juggle/wait_watch.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace poise::juggle {

namespace {

/// Raises the limit on open files, because the balancer opens one or two files for each thread.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

timespec timespec_of(double wait_s) {
  const double whole_s = std::floor(std::max(0.0, wait_s));
  return {static_cast<time_t>(whole_s), static_cast<long>((std::max(0.0, wait_s) - whole_s) * 1e9)};
}

/// The reason why the balancer woke up.
struct WakeUp {
  bool somebody_ended = false;  // the program, the guard or an adopted child has ended
  bool leaves = false;          // an attached balancer was told to leave its program
  bool hears_wait = false;      // a thread has begun to wait
  bool is_early = false;        // the balancer woke up before the next balancing point was due
};

/// True if this process was started with the signal ignored, for example by nohup.
bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Handles the signals that have arrived. If this process started the program, forwards them to the
/// program. If the balancer was attached to a running program, does not forward them: a signal that
/// usually ends a process then only makes the balancer leave the program.
WakeUp take_signals(const Signals& signals, Program& program) {
  WakeUp wake_up;
  while (const auto info = signals.next()) {
    const int signal = info->ssi_signo;
    if (signal == SIGCHLD) {
      wake_up.somebody_ended = true;
      continue;
    }
    // This process has caused the signal itself: SIGXFSZ, by writing too large a file.
    if (info->ssi_pid == static_cast<std::uint32_t>(::getpid())) continue;
    if (program.is_child()) {
      program.forward(signal, info->ssi_code);
    } else {
      wake_up.leaves |= signal == SIGINT || signal == SIGTERM ||
                        (signal == SIGHUP && !is_ignored(SIGHUP)) ||
                        std::ranges::find(kCoreSignals, signal) != std::end(kCoreSignals);
      if (signal == SIGTSTP) stop_like_terminal();
    }
  }
  program.stop_with_it();
  return wake_up;
}

void say_not_balanced(const BalancerOptions& options, const std::exception& reason) {
  if (options.on_note)
    options.on_note(fmt::format("the program runs but is not balanced: {}", reason.what()));
}

/// Balances a running program until it ends. If balancing becomes impossible, the program continues
/// unbalanced.
class Watch {
 public:
  Watch(Program& program, Guard& guard, const Signals& signals, const BalancerOptions& options,
        WaitWatch* waits)
      : program_(program), guard_(guard), signals_(signals), options_(options), waits_(waits) {}

  /// Balances until the program ends, or until a signal tells an attached balancer to leave it.
  Outcome run();

 private:
  /// Calls `step` with the balancer. If that throws, a program that was started under the balancer
  /// continues unbalanced. If the balancer was attached to a running program, the exception is
  /// passed on.
  template <typename Step>
  void with_balancer(Step step);
  void start_balancer();
  void balance(bool is_due);
  void replace_guard();
  WakeUp wait();
  Tally finish() { return balancer_ ? balancer_->finish() : Tally{}; }

  Program& program_;
  Guard& guard_;
  const Signals& signals_;
  const BalancerOptions& options_;
  WaitWatch* waits_;  // null: threads do not report that they wait
  std::optional<Linux> kernel_;
  std::optional<Balancer> balancer_;
  double due_s_ = wall_now_s();  // time of the next balancing point
  double reap_s_ = 0;            // time of the next check for ended children
  bool is_unbalanced_ = false;
};

void Watch::start_balancer() {
  if (const std::string missing = missing_in_proc(); !missing.empty())
    throw std::runtime_error(missing);
  allow_many_files();
  kernel_.emplace(program_.pid(), program_.is_child(), guard_.pid(), kMaxThreads, waits_);
  balancer_.emplace(options_, guard_, *kernel_);
}

template <typename Step>
void Watch::with_balancer(Step step) {
  if (is_unbalanced_) return;
  try {
    if (!balancer_) start_balancer();
    step(*balancer_);
  } catch (const std::exception& exception) {
    if (!program_.is_child()) throw;
    is_unbalanced_ = true;
    guard_.give_all_back();
    say_not_balanced(options_, exception);
  }
}

/// Sleeps until the next balancing point or the next check for ended children is due. Returns
/// earlier if a signal arrives, a thread begins to wait, or an attached program ends.
WakeUp Watch::wait() {
  double until_s = due_s_;
  if (is_unbalanced_) until_s = reap_s_;
  if (program_.pidfd() < 0 && !program_.is_child()) until_s = std::min(due_s_, reap_s_);
  const int news = waits_ != nullptr && !is_unbalanced_ ? waits_->descriptor() : -1;
  pollfd ends[] = {
      {signals_.descriptor(), POLLIN, 0}, {program_.pidfd(), POLLIN, 0}, {news, POLLIN, 0}};
  const timespec wait = timespec_of(until_s - wall_now_s());
  const int num_ends = ::ppoll(ends, std::size(ends), &wait, nullptr);
  if (num_ends < 0 && errno != EINTR)
    throw std::runtime_error(
        fmt::format("cannot wait for the program to end: {}", std::strerror(errno)));
  WakeUp wake_up;
  if (num_ends > 0 && ends[0].revents != 0) wake_up = take_signals(signals_, program_);
  if (num_ends > 0 && ends[1].revents != 0) wake_up.somebody_ended = true;
  wake_up.hears_wait = num_ends > 0 && ends[2].revents != 0;
  if (wake_up.hears_wait) waits_->take_news();
  wake_up.is_early = num_ends != 0 && wall_now_s() < due_s_;
  return wake_up;
}

/// If `is_due`, runs a round of the balancer. Otherwise a thread has begun to wait, and the
/// balancer only moves threads in response.
void Watch::balance(bool is_due) {
  const Guard::Release release = guard_.release();
  with_balancer([&](Balancer& balancer) {
    if (release == Guard::Release::done) balancer.start_anew();
    if (release == Guard::Release::under_way) return;
    if (is_due)
      balancer.round();
    else
      balancer.react();
  });
  if (balancer_ && is_due) due_s_ = wall_now_s() + balancer_->next_s();
}

/// Starts a new guard process after the old one was killed.
void Watch::replace_guard() {
  with_balancer([&](Balancer&) {
    guard_.restart();
    kernel_->do_not_follow(guard_.pid());
  });
}

Outcome Watch::run() {
  for (WakeUp wake_up;; wake_up = wait()) {
    if (wake_up.leaves) return {{}, finish()};
    if (wake_up.somebody_ended || wall_now_s() >= reap_s_) {
      if (auto ending = program_.ended()) return {*ending, finish()};
      if (guard_.has_died()) replace_guard();
      reap_s_ = wall_now_s() + kTuning.check_s;
    }
    if (!wake_up.is_early || wake_up.hears_wait)
      balance(!wake_up.is_early);
    else
      with_balancer([](Balancer& balancer) { balancer.count_early_wake_up(); });
  }
}

void check(const BalancerOptions& options) {
  if (options.cpus.empty() || !common_cpus(options.cpus, allowed_cpus()).empty()) return;
  fail("this process is not allowed to use any of the requested cpus {}; the allowed cpus are {}",
       cpu_list_text(options.cpus), cpu_list_text(allowed_cpus()));
}

/// If the policy reacts to waits, creates the WaitWatch to which the program's threads report when
/// they wait. If that fails, the balancer reads from /proc which threads wait.
void listen_to_waits(const BalancerOptions& options, std::optional<WaitWatch>& waits) {
  if (!is_reacting(options.settings.policy)) return;
  try {
    waits.emplace(options.waits_library);
  } catch (const std::exception& reason) {
    if (options.on_note)
      options.on_note(
          fmt::format("the program cannot report when its threads wait: {}", reason.what()));
  }
}

}  // namespace

Outcome run_balanced(const std::vector<std::string>& command, const BalancerOptions& options) {
  const std::optional<Descriptor> claimed = claim(::getpid());
  if (!claimed) {
    if (options.on_note)
      options.on_note(
          "another `poise juggle` balances this program already; this one only runs it and reports "
          "nothing");
    return {replace_process_by(command), {}};
  }
  std::optional<Signals> signals;
  std::optional<Guard> guard;
  std::optional<WaitWatch> waits;
  std::optional<Program> program;
  try {
    check(options);
    signals.emplace();
    guard.emplace();
    listen_to_waits(options, waits);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopt orphaned descendants, so that they stay visible
    program = Program::start(command, *signals, waits ? waits->environment() : Environment());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& reason) {
    say_not_balanced(options, reason);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    guard.reset();
    signals.reset();
    return {replace_process_by(command), {}};
  }
  return Watch(*program, *guard, *signals, options, waits ? &*waits : nullptr).run();
}

Outcome attach_balanced(pid_t pid, const BalancerOptions& options) {
  check(options);
  const Signals signals;
  Program program = Program::attach(pid);
  const std::optional<Descriptor> claimed = claim(pid);
  if (!claimed)
    fail("--attach {}: another `poise juggle` already balances this process; end that one first",
         pid);
  Guard guard;
  return Watch(program, guard, signals, options, nullptr).run();
}

}  // namespace poise::juggle
