// SPDX-License-Identifier: BSD-3-Clause
// `poise run`: runs an unmodified MPI program repeatedly, and finds out whether a map of its ranks
// makes it faster.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "apps/analysis/launch_files.h"
#include "apps/commands/commands.h"
#include "apps/commands/launcher_options.h"
#include "apps/commands/profiled_launch.h"
#include "apps/commands/run_history.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "runtimes/profile/to_measured.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/diagnosis/diagnose.h"
#include "poise/diagnosis/map_trial.h"
#include "poise/machine/find.h"
#include "poise/trace/native.h"

namespace poise::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "run";

struct RunOptions {
  std::vector<std::string> command;
  std::string history;
};

void note(std::string_view text) { apps::note(kCommand, text); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Launcher launcher_for_map(const std::vector<std::string>& command, const KnownLauncher& known) {
  if (known.kind == profile::Launcher::open_mpi) return Launcher::openmpi;
  if (known.kind == profile::Launcher::hydra) return Launcher::mpich;
  if (fs::path(command[0]).filename() == "srun") return Launcher::slurm;
  fail("{} is not a launcher that can apply a map; use mpirun, mpiexec or srun", command[0]);
}

/// Throws Error if no map can be added to the command.
void check_mappable(const std::vector<std::string>& command, Launcher launcher) {
  if (std::ranges::find(command, ":") != command.end())
    fail("the command starts several programs (separated by \":\"); poise run can map only one");
  if (const std::string option = placing_option(command, launcher); !option.empty())
    fail("the option {} of the command already places the ranks; remove it to use a map", option);
}

/// True for Open MPI 5. Depending on the version, mpirun prints "mpirun (OpenRTE) 4.1.4",
/// "mpirun (Open MPI) 4.1.6" or "mpirun (Open MPI) 5.0.5".
bool is_open_mpi_5(std::string_view version) {
  constexpr std::string_view kBefore = "Open MPI) ";
  if (version.find("OpenRTE") != version.npos) return false;
  const std::size_t at = version.find(kBefore);
  if (at == version.npos || at + kBefore.size() >= version.size()) return true;  // PRRTE
  return version[at + kBefore.size()] >= '5';
}

/// Returns the batch job in which this process runs. Returns nothing if there is no job, or if the
/// environment variables that describe the job cannot be read.
std::optional<Job> running_job() {
  try {
    return job_machine();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Throws Error if this batch job and the job of the profiled run have different numbers of hosts
/// or tasks, because then run times cannot be compared, and the map may not fit.
void check_size(const RunHistory& history, const std::optional<Job>& job) {
  if (!job && history.job_hosts > 0)
    fail(
        "the profiled run was in a batch job with {}, but this run is not in a batch job; start a "
        "job with that number of hosts",
        count_text(history.job_hosts, "host"));
  if (!job) return;
  const std::uint64_t hosts = history.job_hosts > 0 ? history.job_hosts : history.hosts.size();
  if (job->hosts.size() != hosts)
    fail(
        "this batch job has {}, but the profiled run had {}; start a job with the same number of "
        "hosts as the profiled run",
        count_text(job->hosts.size(), "host"), count_text(hosts, "host"));
  if (job->ranks > 0 && history.job_ranks > 0 && job->ranks != history.job_ranks)
    fail(
        "this batch job has {}, but the batch job of the profiled run had {}; start a job with the "
        "same number of tasks as the profiled run",
        count_text(job->ranks, "task"), count_text(history.job_ranks, "task"));
}

/// Returns the hosts for the nodes of the map: the hosts of the profiled run or, if the running
/// batch job lacks one of these, the hosts of the job.
std::vector<std::string> hosts_now(const std::vector<std::string>& profiled,
                                   const std::optional<Job>& job) {
  const auto is_there = [&](const std::string& host) {
    return !job || std::ranges::find(job->hosts, host) != job->hosts.end();
  };
  return std::ranges::all_of(profiled, is_there) ? profiled : job->hosts;
}

/// The file from which the launcher reads the map of one run. It lies beside the history file. Its
/// name is unique, because two jobs with the same history may run at the same time on different
/// hosts. The destructor removes the file.
class MapFile {
 public:
  explicit MapFile(const std::string& history_file)
      : path_(fs::absolute(history_file).replace_extension(kNew).string()) {
    const int file = ::mkostemps(path_.data(), kSuffix.size(), O_CLOEXEC);
    if (file < 0) fail("cannot write {}: {}", path_, std::strerror(errno));
    ::close(file);
  }
  ~MapFile() {
    std::error_code error;
    fs::remove(path_, error);
  }
  MapFile(const MapFile&) = delete;
  MapFile& operator=(const MapFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static constexpr std::string_view kNew = ".XXXXXX.map", kSuffix = ".map";
  std::string path_;
};

/// True if the word names a program: a path, or a file of a folder in PATH.
bool is_program(const std::string& word) {
  if (word.find('/') != word.npos) return ::access(word.c_str(), X_OK) == 0;
  const char* const folders = std::getenv("PATH");
  return std::ranges::any_of(split(folders ? folders : "", ':'), [&](std::string_view folder) {
    return ::access((fs::path(folder) / word).c_str(), X_OK) == 0;
  });
}

/// Returns the user's command with the words that apply the map of ranks.
std::vector<std::string> with_options(std::vector<std::string> words, const LaunchOptions& options,
                                      Launcher launcher) {
  if (!options.program_words.empty()) {
    const std::size_t program = program_index(words, launcher);
    if (program == words.size() || !is_program(words[program]))
      fail("cannot tell which word of the command is the program, so its ranks cannot be bound");
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(program),
                 options.program_words.begin(), options.program_words.end());
  }
  words.insert(words.begin() + 1, options.words.begin(), options.words.end());
  return words;
}

/// Returns the user's command with the words that apply the map of ranks. Writes the files that
/// these words name, and sets the launcher's environment variables. Throws Error if the map cannot
/// be applied.
std::vector<std::string> mapped_command(const std::vector<std::string>& command,
                                        const std::string& history_file,
                                        const std::string& map_file, const RunHistory& history,
                                        const std::optional<Job>& job) {
  const std::string file = profile_beside(history_file);
  const Trace trace = native::read(file, read_file(file));
  if (!trace.machine)
    fail(
        "{}: the trace has no machine, so the map cannot be applied; remove the history file {} to "
        "begin anew",
        file, history_file);
  const Placement placement(history.map);
  check(placement, history.map.size(), trace.machine->num_places());
  const KnownLauncher known = launcher_of(command[0]);
  const Launcher launcher = launcher_for_map(command, known);
  check_mappable(command, launcher);
  const std::vector<std::string> hosts = hosts_now(history.hosts, job);
  const LaunchOptions options = launch_options({*trace.machine, placement, {}, hosts}, launcher,
                                               map_file, is_open_mpi_5(known.version));
  std::vector<std::string> words = with_options(command, options, launcher);
  for (const LaunchFile& made : options.files) write_file(made.path, made.text);
  // Open MPI 4 and 5 refuse a map if a variable sets a default mapping policy, so the variables of
  // both versions are removed.
  for (const char* const policy :
       {"OMPI_MCA_rmaps_base_mapping_policy", "PRTE_MCA_rmaps_default_mapping_policy"})
    if (launcher == Launcher::openmpi) ::unsetenv(policy);
  for (const auto& [name, value] : options.variables) ::setenv(name.c_str(), value.c_str(), 1);
  return words;
}

/// Stores the profile and, if the diagnosis promises a gain, the map.
void learn(const Profiled& profiled, const std::string& history_file, RunHistory& history) {
  write_file(profile_beside(history_file), profiled.file());
  history.hosts = profiled.hosts;
  if (const std::optional<Job> job = running_job()) {
    history.job_hosts = job->hosts.size();
    history.job_ranks = job->ranks;
  }
  history.map.clear();
  history.predicted = 0;
  const Trace& trace = profiled.trace;
  if (!trace.machine || trace.phases.empty()) return;
  const Diagnosis diagnosis = diagnose(profile::measured(profiled.ranks), trace);
  for (const Advice& advice : diagnosis.advice)
    if (advice.remedy == Remedy::mapping)
      history.predicted = advice.saved.value / std::max(1e-9, diagnosis.whole.run_s);
  if (history.predicted > 0) history.map = diagnosis.map;
}

std::string interval_text(const NextRun& next) {
  return fmt::format("{} ({} to {}, {} of runs)", percent(next.gain), percent(next.low),
                     percent(next.high), count_text(next.pairs, "pair"));
}

std::string running_text(const RunHistory& history, const NextRun& next) {
  const std::string so_far = next.high > next.low
                                 ? "so far it saves " + interval_text(next)
                                 : fmt::format("{} of runs so far", count_text(next.pairs, "pair"));
  return fmt::format("a map promises {}; {}; the next run {}", percent(history.predicted), so_far,
                     next.kind == RunKind::mapped ? "is mapped" : "has the launcher's order");
}

/// Returns one line that says what the runs so far show about a map of the ranks. `succeeded` is
/// false if the program of the last run failed.
std::string verdict(const RunHistory& history, bool succeeded) {
  const NextRun next = next_run(trial_of(history));
  switch (next.state) {
    case TrialState::unprofiled:
      return fmt::format("nothing is known yet{}; the next run is profiled",
                         succeeded ? "" : ", as a run that ends with an error does not count");
    case TrialState::no_gain:
      return "no map of the ranks promises a gain; the launcher's order stays";
    case TrialState::noise:
      return fmt::format(
          "a map promises {}, but runs differ by {} by themselves; the launcher's order stays",
          percent(history.predicted), percent(next.noise));
    case TrialState::running: return running_text(history, next);
    case TrialState::kept: return "the map is kept: it saves " + interval_text(next);
    case TrialState::dropped: return "the map is dropped: it saves " + interval_text(next);
    case TrialState::failed: break;
  }
  return "the map is dropped: a run with it ended with an error";
}

/// One launch of the user's command. It is of one of three kinds: with the profiling library, with
/// the ranks in the launcher's order, or with a map of the ranks.
class Launch {
 public:
  /// If the profiling library or the map cannot be used, the user's command is launched unchanged,
  /// and a note says why.
  Launch(const RunOptions& options, const RunHistory& history, const NextRun& next)
      : words_(options.command), kind_(next.kind) {
    try {
      const bool is_trial = next.state == TrialState::running || next.state == TrialState::noise ||
                            next.state == TrialState::kept;
      const std::optional<Job> job = is_trial ? running_job() : std::nullopt;
      if (is_trial) {
        is_comparable_ = false;
        check_size(history, job);
        is_comparable_ = true;
      }
      if (kind_ == RunKind::profiled) {
        profiled_.emplace(kCommand, profile_beside(options.history));
        words_ = profiled_->preloading(options.command, 0);
      }
      if (kind_ == RunKind::mapped)
        words_ = mapped_command(options.command, options.history,
                                map_file_.emplace(options.history).path(), history, job);
    } catch (const Error& trouble) {
      note(fmt::format("{}; running the command unchanged", trouble.what()));
      kind_ = RunKind::own_order;
    }
  }

  juggle::Ending run() {
    const double begin_s = wall_now_s();
    const juggle::Ending ending = run_command(words_, &is_interrupted_);
    seconds_ = wall_now_s() - begin_s;
    if (!ending.text.empty()) note(ending.text);
    return ending;
  }

  /// Adds the result of the run to the history. `succeeded` is false if the program failed.
  void note_in(RunHistory& history, const std::string& file, bool succeeded) const {
    if (!succeeded) {
      history.map_failed = history.map_failed || (kind_ == RunKind::mapped && !is_interrupted_);
      return;
    }
    if (!is_comparable_) return;
    if (kind_ == RunKind::profiled) {
      if (next_run(trial_of(history)).kind != RunKind::profiled)
        return;  // a concurrent run has already stored its profile
      const auto profiled = profiled_->collect(false);
      if (!profiled) return;
      learn(*profiled, file, history);
    }
    history.runs.push_back({kind_, seconds_});
  }

 private:
  std::vector<std::string> words_;
  RunKind kind_;
  std::optional<ProfiledLaunch> profiled_;
  std::optional<MapFile> map_file_;
  double seconds_ = 0;
  bool is_interrupted_ = false;
  bool is_comparable_ = true;  // this job is as large as the profiled run's job
};

[[noreturn]] void run_plainly(const std::vector<std::string>& command) {
  const juggle::Ending ending = run_command(command);
  if (!ending.text.empty()) note(ending.text);
  juggle::end_like(ending);
}

void run(RunOptions& options) {
  if (options.command.empty())
    fail("COMMAND is missing; example: poise run -- mpirun -np 4 ./program");
  if (options.history.empty()) {
    options.history = usual_history_file(options.command);
    std::error_code ignored;  // if the folder cannot be created, write_history() fails
    fs::create_directories(fs::path(options.history).parent_path(), ignored);
  }
  RunHistory history;
  try {
    if (options.history.empty())
      fail(
          "the history cannot be stored, because no home directory is known; name a file with "
          "--history FILE");
    const HistoryLock lock(options.history);
    history = read_history(options.history, options.command);
    write_history(options.history, history);  // reports an error before the long run, not after it
  } catch (const Error& trouble) {
    note(fmt::format("{}; running the command unchanged", trouble.what()));
    run_plainly(options.command);
  }
  juggle::Ending ending;
  {
    Launch launch(options, history, next_run(trial_of(history)));
    ending = launch.run();
    juggle::ignore_signals_of_writing();
    try {
      const HistoryLock lock(options.history);
      // Reads the history again: other runs of the command may have ended since this run began.
      history = read_history(options.history, options.command);
      const bool succeeded = ending.status == 0 && ending.signal == 0;
      if (ending.text.empty()) launch.note_in(history, options.history, succeeded);
      write_history(options.history, history);
      note(verdict(history, succeeded));
    } catch (const Error& trouble) {  // poise still exits with the program's status
      note(fmt::format("this run was not added to the history: {}", trouble.what()));
    }
  }
  juggle::end_like(ending);
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "run", "Run an unmodified MPI program, and map its ranks if that makes it faster");
  command->add_option("command", options->command, "The launcher, after --, and its arguments")
      ->type_name("COMMAND")
      ->option_text("-- COMMAND...");
  add_text(*command, "--history", "FILE", options->history,
           "Remember runs in FILE (default: one per command and folder in "
           "~/.local/share/poise/runs)");
  command->footer(
      "The first run is profiled. Later runs alternate between the launcher's order and the map, "
      "until\nit is clear whether the map helps. The exit status is the program's.\n"
      "Example: poise run -- mpirun -np 64 ./program");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
