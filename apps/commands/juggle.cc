// SPDX-License-Identifier: BSD-3-Clause
// `poise juggle`: runs a program and balances the load of its threads.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/commands/preloaded_library.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"
#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/report.h"
#include "runtimes/juggle/run.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/base/variables.h"

namespace poise::apps {

namespace {

struct JuggleOptions {
  std::vector<std::string> command;
  std::optional<std::uint64_t> threads, skip_thread, attach;
  std::string period{variable("POISE_JUGGLE_PERIOD").initial}, cpus,
      policy{variable("POISE_JUGGLE_POLICY").initial}, numa{variable("POISE_JUGGLE_NUMA").initial},
      progress = "auto", tuning;
  double jitter = 0.1;
  std::uint64_t seed = 0;
  bool summary = false, live = false, diagnose = false;
  std::string json, trace;
};

constexpr double kLiveEveryS = 0.2, kLineEveryS = 1;
// Number of lines above the list of threads, not counting the line that shows the diagnosis.
constexpr std::size_t kHeadLines = 3;
constexpr std::size_t kLiveThreads = 20;

/// Shows the threads on stderr, because stdout belongs to the program. On a terminal the picture is
/// redrawn in place; elsewhere one line is printed per second.
class Picture {
 public:
  void show(const juggle::Tally& tally) {
    if (tally.elapsed_s < next_s_) return;
    next_s_ = tally.elapsed_s + (is_terminal_ ? kLiveEveryS : kLineEveryS);
    if (!is_terminal_) {
      say(juggle::live_line(tally));
      return;
    }
    winsize screen{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &screen);
    // Number of threads that fit on the screen. Lines that have scrolled off it cannot be redrawn.
    const std::size_t others =
        1 + kHeadLines + num_wrapped(juggle::live_text(tally, 0), screen.ws_col);
    const std::size_t fitting = screen.ws_row > others ? screen.ws_row - others : 1;
    const std::string text = juggle::live_text(tally, screen.ws_row == 0 ? kLiveThreads : fitting);
    if (num_lines_ > 0) say(fmt::format("\033[{}A\033[J", num_lines_));
    say(text);
    num_lines_ = std::count(text.begin(), text.end(), '\n') + num_wrapped(text, screen.ws_col);
  }

 private:
  /// Returns how many additional lines the terminal needs because it wraps the text's long lines.
  /// `columns` is the width of the terminal; if it is 0 (unknown), returns 0.
  static std::size_t num_wrapped(std::string_view text, std::size_t columns) {
    std::size_t wrapped = 0;
    for (const std::string_view line : split(text, '\n'))
      if (columns > 0 && !line.empty()) wrapped += (line.size() - 1) / columns;
    return wrapped;
  }

  bool is_terminal_ = ::isatty(STDERR_FILENO) != 0 && !is_dumb();
  static bool is_dumb() {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && std::string_view(kind) == "dumb";
  }
  double next_s_ = 0;
  std::ptrdiff_t num_lines_ = 0;
};

double period_s(const std::string& text) {
  const auto duration_s = parse_duration_s(text);
  if (!duration_s || *duration_s < 1e-3 || *duration_s > 3600)
    fail("--period takes a time from 1ms to 3600s, such as 100ms, not \"{}\"", text);
  return *duration_s;
}

std::uint32_t small_count(const char* flag, std::uint64_t count) {
  if (count > 1'000'000) fail("{} must be at most 1,000,000, not {}", flag, count);
  return count;
}

/// Returns the cpus that this process may use. If the kernel does not report them, returns `given`;
/// in this case run_balanced() prints a note.
juggle::Cpus allowed_cpus_or(const juggle::Cpus& given) {
  try {
    return juggle::allowed_cpus();
  } catch (const std::runtime_error&) {
    return given;
  }
}

/// If some of the given cpus can be used and others cannot, reports which cannot.
void note_unusable(const juggle::BalancerOptions& options, const std::string& asked) {
  if (options.cpus.empty()) return;
  const juggle::Cpus usable = juggle::common_cpus(options.cpus, allowed_cpus_or(options.cpus));
  juggle::Cpus unusable;
  std::set_difference(options.cpus.begin(), options.cpus.end(), usable.begin(), usable.end(),
                      std::back_inserter(unusable));
  if (!unusable.empty() && !usable.empty())
    options.on_note(
        fmt::format("--cpus {}: {} cannot be used here (absent or not allowed); using {}", asked,
                    juggle::cpu_list_text(unusable), juggle::cpu_list_text(usable)));
}

/// Parses a value of an option. If the value comes from environment variable `name`, an error names
/// the variable.
template <typename Parse>
auto parsed(const char* name, const std::string& value, Parse parse) {
  try {
    return parse(value);
  } catch (const Error& error) {
    const char* const from_environment = std::getenv(name);
    if (from_environment == nullptr || value != from_environment) throw;
    fail("{}: {}", name, error.what());
  }
}

bool stays_in_domain(const std::string& numa) {
  if (numa != "across" && numa != "within")
    fail("--numa must be within or across, not \"{}\"", numa);
  return numa == "within";
}

juggle::BalancerOptions options_from(const JuggleOptions& options) {
  juggle::BalancerOptions result;
  result.settings.policy = parsed("POISE_JUGGLE_POLICY", options.policy, juggle_policy_named);
  if (options.diagnose) result.settings.policy = JugglePolicy::off;
  result.settings.period_s = parsed("POISE_JUGGLE_PERIOD", options.period, period_s);
  result.settings.tuning = parsed("POISE_JUGGLE_TUNING", options.tuning, juggle_tuning_from);
  if (options.threads)
    result.settings.expected_threads = small_count("--threads", *options.threads);
  if (options.skip_thread) result.skip_thread = small_count("--skip-thread", *options.skip_thread);
  if (!options.cpus.empty())
    result.cpus = parsed("POISE_JUGGLE_CPUS", options.cpus, juggle::parse_cpu_list);
  result.stays_in_domain = parsed("POISE_JUGGLE_NUMA", options.numa, stays_in_domain);
  result.progress = juggle::progress_source_named(options.progress);
  if (!(options.jitter >= 0 && options.jitter < 1))
    fail("--jitter takes a share of the period, at least 0 and below 1, not {}", options.jitter);
  result.jitter = options.jitter;
  result.seed = options.seed;
  result.first_cpu = ::getpid();
  result.waits_library = preloaded_library("libpoise_juggle_waits.so");
  result.wants_stays = !options.trace.empty();
  check_outputs({options.json, options.trace},
                {options.command.empty() ? "" : options.command.front()});
  if (options.live)
    result.on_round = [picture = Picture()](const juggle::Tally& tally) mutable {
      picture.show(tally);
    };
  result.on_note = [](std::string_view note) { say_line("poise juggle", note); };
  note_unusable(result, options.cpus);
  return result;
}

void run(const JuggleOptions& options) {
  const juggle::BalancerOptions settings = options_from(options);
  if (options.attach.has_value() == !options.command.empty())
    fail(
        "COMMAND or --attach PID is missing, or both are given; example: poise juggle -- "
        "./program");
  if (options.attach && *options.attach > 1 << 30)
    fail("--attach {}: there is no such process; find its id with `pgrep -u $USER NAME`",
         *options.attach);
  const juggle::Outcome outcome = options.attach
                                      ? juggle::attach_balanced(*options.attach, settings)
                                      : juggle::run_balanced(options.command, settings);
  juggle::ignore_signals_of_writing();
  const bool has_run = outcome.ending.text.empty();
  if (options.summary && has_run) say(juggle::summary_text(outcome.tally));
  const std::string diagnosis =
      options.diagnose ? juggle::diagnosis_text(outcome.tally) : juggle::advice_text(outcome.tally);
  for (const std::string_view line : split(diagnosis, '\n'))
    if (!options.summary && has_run && !line.empty()) say_line("poise juggle", line);
  try {
    if (!options.json.empty()) write_file(options.json, juggle::summary_json(outcome.tally));
    if (!options.trace.empty()) write_file(options.trace, juggle::trace_json(outcome.tally));
  } catch (const Error& trouble) {  // poise still exits with the program's status
    settings.on_note(trouble.what());
  }
  if (!has_run) say_line("poise", outcome.ending.text);
  juggle::end_like(outcome.ending);
}

/// Adds an option with its help text from the table of variables. If the command line does not set
/// the option, its value comes from the environment variable `name`.
void add_variable(CLI::App& command, const char* flag, std::string& value, const char* name,
                  const char* type) {
  add_text(command, flag, type, value, std::string(variable(name).help))->envname(name);
}

void add_reports(CLI::App& command, JuggleOptions& options) {
  command.add_flag("--summary", options.summary,
                   "Print a summary on stderr at the end: what was done and what it cost");
  command.add_flag(
      "--diagnose", options.diagnose,
      "Move no thread; say at the end what slows the threads down, and what would help");
  command.add_flag(
      "--live", options.live,
      "Show the threads while they run, on stderr: in place on a terminal, else in lines");
  add_text(command, "--json", "FILE", options.json, "Write the summary as JSON");
  add_text(command, "--trace", "FILE", options.trace,
           "Write the cpu of each thread over time, for poise timeline and Perfetto");
}

}  // namespace

void add_juggle(CLI::App& app) {
  auto options = std::make_shared<JuggleOptions>();
  CLI::App* command =
      app.add_subcommand("juggle", "Run a program while its threads are kept in balance");
  command
      ->add_option("command", options->command, "The program to run, after --, and its arguments")
      ->type_name("COMMAND")
      ->option_text("[-- COMMAND...]");
  add_count(*command, "--threads", "N", options->threads,
            "Expected number of threads: none is moved before all exist");
  add_variable(*command, "--period", options->period, "POISE_JUGGLE_PERIOD", "TIME");
  add_variable(*command, "--cpus", options->cpus, "POISE_JUGGLE_CPUS", "LIST");
  add_count(*command, "--skip-thread", "K", options->skip_thread,
            "Leave out this thread of each process, counted from 0: one that only starts others");
  add_variable(*command, "--policy", options->policy, "POISE_JUGGLE_POLICY", "POLICY");
  add_variable(*command, "--numa", options->numa, "POISE_JUGGLE_NUMA", "within|across");
  add_variable(*command, "--tuning", options->tuning, "POISE_JUGGLE_TUNING", "NAME=VALUE,...");
  add_text(*command, "--progress", "time|instructions|auto", options->progress,
           "Measure of a thread's progress: time (on a cpu), instructions, or auto "
           "(instructions where cpus are unequal and counting is allowed)");
  command
      ->add_option("--jitter", options->jitter,
                   "Random variation of each period, as a share of it, below 1")
      ->type_name("SHARE")
      ->capture_default_str();
  add_count(*command, "--seed", "N", options->seed, "Seed of the jitter");
  add_count(*command, "--attach", "PID", options->attach,
            "Balance a running process until it ends or this command is interrupted");
  add_reports(*command, *options);
  command->footer(
      "The exit status is that of COMMAND, or 127 if COMMAND is not found, 126 if it is not\n"
      "executable.\n"
      "Example: poise juggle -- env OMP_NUM_THREADS=3 ./program");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
