// SPDX-License-Identifier: BSD-3-Clause
// `poise profile`: runs an unmodified MPI program and records what its ranks did.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/pingpong/launcher.h"
#include "apps/report/diagnosis_text.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "runtimes/juggle/program.h"
#include "runtimes/profile/launcher_line.h"
#include "runtimes/profile/profile_file.h"
#include "runtimes/profile/to_measured.h"
#include "runtimes/profile/to_trace.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/diagnosis/diagnose.h"
#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/trace/native.h"

namespace poise::apps {

namespace {

namespace fs = std::filesystem;

constexpr double kVersionTimeout_s = 10;
constexpr int kMaxWait_ms = 1000;

struct Options {
  std::vector<std::string> command;
  std::string output = "run.poise", json;
  std::string period;  // of time slices; empty or auto: chosen
};

/// A folder for the ranks, which is removed at the end. Rank 0 writes the profile of a complete run
/// into it; in addition, each rank writes what it has measured up to now.
class Exchange {
 public:
  /// Throws Error if no folder can be created beside `output`.
  explicit Exchange(const std::string& output) : folder_(output + ".XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr)
      fail("cannot create a folder beside {}: {}", output, std::strerror(errno));
  }
  ~Exchange() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const std::string& folder() const { return folder_; }
  std::string whole() const { return folder_ + "/all"; }

 private:
  std::string folder_;
};

void note(std::string_view text) { fmt::print(stderr, "poise profile: {}\n", text); }

/// Returns the path of the library to preload, which is beside this program both in the build tree
/// and when installed; empty if it is not there.
std::string preloaded_library() {
  if (const char* const given = std::getenv("POISE_PROFILE_LIBRARY")) return given;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path above = own.parent_path().parent_path();
  for (const char* const folder : {"lib", POISE_LIBRARY_FOLDER})
    if (const fs::path file = above / folder / "libpoise_profile.so"; fs::exists(file, error))
      return file.string();
  return "";
}

profile::Launcher launcher_of(const std::string& command) {
  if (!profile::may_be_launcher(command)) return profile::Launcher::other;
  std::string version;
  try {
    run_lines(shell_word(command) + " --version", kVersionTimeout_s,
              [&](std::string_view line) { version += std::string(line) + '\n'; });
  } catch (const std::runtime_error&) {  // not found: starting it will say that
  }
  return profile::launcher_of(version);
}

/// Parses --period. 0 means that the library chooses the period. Throws Error.
std::int64_t period_ns_of(const std::string& text) {
  if (text.empty() || text == "auto") return 0;
  const std::optional<double> seconds = parse_duration_s(text);
  if (!seconds || *seconds < 0.01 || *seconds > 86400)
    fail("--period {} is not a time from 10ms to 24h such as 2s, nor auto", text);
  return static_cast<std::int64_t>(1e9 * *seconds);
}

/// Returns the command that runs the program with the library preloaded into its ranks. If the
/// launcher is unknown, the library is put into this process's environment, which all children
/// inherit.
std::vector<std::string> preloading(const std::vector<std::string>& command,
                                    const std::string& library, const Exchange& exchange,
                                    std::int64_t period_ns) {
  const char* const others = std::getenv("LD_PRELOAD");
  const bool has_others = others != nullptr && *others != '\0';
  profile::Variables variables = {
      {"LD_PRELOAD", has_others ? fmt::format("{}:{}", library, others) : library},
      {"POISE_PROFILE", exchange.whole()},
      {"POISE_PROFILE_PARTS", exchange.folder()}};
  if (period_ns > 0) variables.emplace_back("POISE_PROFILE_PERIOD_NS", std::to_string(period_ns));
  const profile::Launcher launcher = launcher_of(command[0]);
  if (launcher == profile::Launcher::other)
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return profile::with_variables(command, launcher, variables);
}

/// Runs the command and forwards signals of this process to it.
juggle::Ending run_command(const std::vector<std::string>& command) {
  const juggle::Signals signals;
  juggle::Program program = juggle::Program::start(command, signals);
  for (;;) {
    if (const auto ending = program.ended()) return *ending;
    pollfd descriptor{signals.descriptor(), POLLIN, 0};
    ::poll(&descriptor, 1, kMaxWait_ms);
    while (const auto signal = signals.next())
      if (signal->ssi_signo != SIGCHLD)
        program.forward(static_cast<int>(signal->ssi_signo), signal->ssi_code);
  }
}

/// Reads the blocks that ranks left in the folder.
std::vector<profile::RankProfile> left_parts(const std::string& folder) {
  std::vector<profile::RankProfile> blocks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    for (profile::RankProfile& block : profile::decode(path, read_file(path)))
      blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Returns the first hardware thread of the core to which a cpu of this host belongs.
std::uint32_t first_of_core(std::int32_t cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::uint32_t first = static_cast<std::uint32_t>(std::max(0, cpu));
  file >> first;
  return first;
}

/// Returns a machine with one copy of this host per host of the run.
std::optional<Machine> machine_of(const std::vector<std::string>& hosts) {
  try {
    const Machine node = live_machine();
    return hosts.size() > 1 ? cluster_of(node, hosts) : node;
  } catch (const Error& error) {
    note(fmt::format("the trace has no machine: {}", error.what()));
    return std::nullopt;
  }
}

PlaceId place_of(const Machine& machine, std::size_t num_hosts, std::uint32_t host,
                 std::int32_t cpu) {
  const auto per_host = static_cast<PlaceId>(machine.num_places() / num_hosts);
  const PlaceId first = host * per_host;
  const std::uint32_t core = first_of_core(cpu);
  for (PlaceId p = first; p < first + per_host; ++p)
    if (machine.place(p).os_index == core) return p;
  return first + core % per_host;  // of a host that differs from this one
}

/// Prints what the run waited for on stderr, because stdout belongs to the program.
void report(const std::vector<profile::RankProfile>& ranks, const Trace& trace,
            const Options& options) {
  std::uint64_t error_ns = 0;
  for (const profile::RankProfile& rank : ranks) error_ns = std::max(error_ns, rank.clock_error_ns);
  if (error_ns > 0)
    note(fmt::format("clocks of the hosts agree to {:.1f} us",
                     1e-3 * static_cast<double>(error_ns)));
  if (ranks[0].phases.empty()) return;
  const MeasuredRun run = profile::measured(ranks);
  const Diagnosis diagnosis = diagnose(run, trace);
  if (!options.json.empty()) write_file(options.json, diagnosis_json(run, diagnosis));
  fmt::print(stderr, "\n{}", diagnosis_text(run, diagnosis, options.output));
}

void write_trace_of(const std::vector<profile::RankProfile>& blocks, const Options& options) {
  const std::vector<profile::RankProfile> ranks = profile::whole(blocks);
  const std::vector<std::string> hosts = profile::hosts_of(ranks);
  const std::optional<Machine> machine = machine_of(hosts);
  const Trace trace = profile::trace_of(ranks, machine ? &*machine : nullptr,
                                        [&](std::uint32_t host, std::int32_t cpu) {
                                          return place_of(*machine, hosts.size(), host, cpu);
                                        });
  check(trace);
  std::string measured(profile::kMagic);
  for (const profile::RankProfile& rank : ranks) measured += profile::encode(rank);
  write_file(options.output, native::write(trace, {{"prof", std::move(measured)}}));
  note(fmt::format("{}: {}, {}", options.output, count_text(ranks.size(), "rank"),
                   count_text(trace.phases.size(), "phase")));
  report(ranks, trace, options);
}

/// Combines the files of the ranks into the trace. If there is no trace, prints one line with the
/// reason.
void collect(const Exchange& exchange, const Options& options) {
  std::error_code error;
  if (fs::exists(exchange.whole(), error)) {
    write_trace_of(profile::decode(exchange.whole(), read_file(exchange.whole())), options);
    return;
  }
  const std::vector<profile::RankProfile> parts = left_parts(exchange.folder());
  if (parts.empty()) {
    note(
        "no profile: no rank called MPI_Init of a shared MPI library on a file system that this "
        "host sees; "
        "is it an MPI program, not linked statically?");
    return;
  }
  note(
      "not all ranks came to MPI_Finalize: the profile ends with the last phase that all finished");
  write_trace_of(parts, options);
}

void run(const Options& options) {
  if (options.command.empty())
    fail("COMMAND is missing; example: poise profile -- mpirun -np 4 ./program");
  check_writable(options.output);
  if (!options.json.empty()) check_writable(options.json);
  const std::int64_t period_ns = period_ns_of(options.period);
  const std::string library = preloaded_library();
  std::optional<Exchange> exchange;
  try {
    if (library.empty()) fail("libpoise_profile.so is not installed beside this program");
    exchange.emplace(fs::absolute(options.output).string());
  } catch (const Error& trouble) {
    note(fmt::format("no profile: {}; running plainly", trouble.what()));
  }
  const juggle::Ending ending = run_command(
      exchange ? preloading(options.command, library, *exchange, period_ns) : options.command);
  if (!ending.text.empty()) note(ending.text);
  try {
    if (exchange && ending.text.empty()) collect(*exchange, options);
  } catch (const Error& trouble) {  // the program's status counts
    note(fmt::format("no profile: {}", trouble.what()));
  }
  exchange.reset();
  juggle::end_like(ending);
}

}  // namespace

void add_profile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "profile", "Run an unmodified MPI program and record where its ranks' time goes");
  command->add_option("command", options->command, "The launcher, after --, and its arguments")
      ->type_name("COMMAND")
      ->option_text("COMMAND...");
  command->add_option("-o,--output", options->output, "Write the trace to FILE")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--json", options->json, "Also write the diagnosis as JSON to FILE")
      ->type_name("FILE");
  command
      ->add_option("--period", options->period,
                   "Cut the run into phases of this length, such as 2s; auto: by MPI_Pcontrol or "
                   "iterations (default: auto)")
      ->type_name("T");
  command->footer(
      "The program's exit status is passed through; 127: not found, 126: not executable.\n"
      "Example: poise profile -o run.poise -- mpirun -np 4 ./program");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
