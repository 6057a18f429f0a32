// SPDX-License-Identifier: BSD-3-Clause

#include "apps/commands/profiled_launch.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <set>
#include <unistd.h>

#include "apps/commands/launcher_options.h"
#include "apps/commands/preloaded_library.h"
#include "apps/pingpong/launcher.h"
#include "apps/text/output.h"
#include "runtimes/profile/to_trace.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/trace/native.h"

namespace poise::apps {

namespace {

namespace fs = std::filesystem;

constexpr double kVersionTimeout_s = 10;
constexpr int kMaxWait_ms = 1000;

/// Returns the path of the library to preload. Empty if there is none.
std::string profile_library() {
  const char* const given = std::getenv("POISE_PROFILE_LIBRARY");
  return given != nullptr ? given : preloaded_library("libpoise_profile.so");
}

/// Reads the profiles that the ranks wrote into the folder.
std::vector<profile::RankProfile> left_parts(const std::string& folder) {
  std::vector<profile::RankProfile> blocks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string(), bytes = read_file(path);
    if (bytes.empty()) continue;  // the rank was killed while it created the file
    for (profile::RankProfile& block : profile::decode(path, bytes))
      blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Says which ranks finished the phases in `parts`, which is not empty. Some ranks may have died
/// before they finished any phase.
std::string text_of_early_end(const std::vector<profile::RankProfile>& parts) {
  std::set<std::uint32_t> ranks;
  for (const profile::RankProfile& part : parts) ranks.insert(part.rank);
  const std::string text =
      "not all ranks came to MPI_Finalize: the profile ends with the last phase that ";
  if (ranks.size() >= parts[0].num_ranks) return text + "all finished";
  return text + fmt::format("{} of {} ranks finished; the work of the others counts as 0",
                            ranks.size(), parts[0].num_ranks);
}

/// Returns the first hardware thread of the core to which a cpu of this host belongs.
std::uint32_t first_of_core(std::int32_t cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::uint32_t first = std::max(0, cpu);
  file >> first;
  return first;
}

/// Returns the machine of a run: one node per entry of `hosts`, each like this host. Returns
/// nothing, and prints a note, if this host cannot be described.
std::optional<Machine> machine_of(std::string_view command, const std::vector<std::string>& hosts) {
  try {
    const Machine node = live_machine();
    return hosts.size() > 1 ? cluster_of(node, hosts) : node;
  } catch (const Error& error) {
    note(command, fmt::format("the trace has no machine: {}", error.what()));
    return std::nullopt;
  }
}

bool asks_to_end(std::uint32_t signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGABRT;
}

PlaceId place_of(const Machine& machine, std::size_t num_hosts, std::uint32_t host,
                 std::int32_t cpu) {
  const PlaceId per_host = machine.num_places() / num_hosts;
  const PlaceId first = host * per_host;
  const std::uint32_t core = first_of_core(cpu);
  for (PlaceId p = first; p < first + per_host; ++p)
    if (machine.place(p).os_index == core) return p;
  // The rank's host numbers its cpus differently from this host, so the rank gets an arbitrary
  // place on its host.
  return first + core % per_host;
}

}  // namespace

void note(std::string_view command, std::string_view text) {
  say_line(fmt::format("poise {}", command), text);
}

KnownLauncher launcher_of(const std::string& command) {
  KnownLauncher launcher;
  if (!profile::may_be_launcher(command)) return launcher;
  try {
    run_lines(shell_word(command) + " --version", kVersionTimeout_s,
              [&](std::string_view line) { launcher.version += std::string(line) + '\n'; });
  } catch (const std::runtime_error&) {  // if the launcher is missing, run_command() reports it
  }
  launcher.kind = profile::launcher_of(launcher.version);
  return launcher;
}

juggle::Ending run_command(const std::vector<std::string>& command, bool* is_interrupted) {
  const juggle::Signals signals;
  juggle::Program program = juggle::Program::start(command, signals);
  for (;;) {
    if (const auto ending = program.ended()) return *ending;
    pollfd descriptor{signals.descriptor(), POLLIN, 0};
    ::poll(&descriptor, 1, kMaxWait_ms);
    while (const auto signal = signals.next()) {
      if (signal->ssi_signo != SIGCHLD) program.forward(signal->ssi_signo, signal->ssi_code);
      if (is_interrupted != nullptr && asks_to_end(signal->ssi_signo)) *is_interrupted = true;
    }
    program.stop_with_it();
  }
}

std::string Profiled::file() const {
  std::string measured(profile::kMagic);
  for (const profile::RankProfile& rank : ranks) measured += profile::encode(rank);
  return native::write(trace, {{"prof", std::move(measured)}});
}

ProfiledLaunch::ProfiledLaunch(std::string command, const std::string& output)
    : command_(std::move(command)),
      library_(profile_library()),
      folder_(fs::absolute(output).string() + ".XXXXXX") {
  if (library_.empty())
    fail("libpoise_profile.so is missing: it must be installed with this program");
  // The dynamic linker splits LD_PRELOAD at blanks and colons.
  if (library_.find_first_of(" :") != std::string::npos)
    fail(
        "programs cannot load {}, because the path contains a blank or a colon; install Poise in "
        "another folder",
        library_);
  if (::mkdtemp(folder_.data()) == nullptr)
    fail(
        "cannot create a temporary folder beside the output file {}: {}; choose an output file in "
        "another folder",
        output, std::strerror(errno));
}

ProfiledLaunch::~ProfiledLaunch() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::vector<std::string> ProfiledLaunch::preloading(const std::vector<std::string>& words,
                                                    std::int64_t period_ns) const {
  const char* const others = std::getenv("LD_PRELOAD");
  const bool has_others = others != nullptr && *others != '\0';
  profile::Variables variables = {
      {"LD_PRELOAD", has_others ? fmt::format("{}:{}", library_, others) : library_},
      {"POISE_PROFILE", whole()},
      {"POISE_PROFILE_PARTS", folder_}};
  // Only the option --period sets the length of the time slices, so a value from the user's
  // environment is removed.
  ::unsetenv("POISE_PROFILE_PERIOD_NS");
  if (period_ns > 0) variables.emplace_back("POISE_PROFILE_PERIOD_NS", std::to_string(period_ns));
  for (const char* const name : {"POISE_REORDER", "POISE_REORDER_MACHINE"})
    if (const char* const value = std::getenv(name)) variables.emplace_back(name, value);
  profile::Launcher launcher = launcher_of(words[0]).kind;
  // Open MPI ignores all other options of its launcher if the command names an application file.
  if (launcher == profile::Launcher::open_mpi && has_option(words, Launcher::openmpi, "app"))
    launcher = profile::Launcher::other;
  if (launcher == profile::Launcher::other)
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return profile::with_variables(words, launcher, variables);
}

Profiled ProfiledLaunch::from_blocks(const std::vector<profile::RankProfile>& blocks) const {
  Profiled profiled{.ranks = profile::whole(blocks), .hosts = {}, .trace = {}};
  profiled.hosts = profile::hosts_of(profiled.ranks).names;
  const std::optional<Machine> machine = machine_of(command_, profiled.hosts);
  profiled.trace = profile::trace_of(profiled.ranks, machine ? &*machine : nullptr,
                                     [&](std::uint32_t host, std::int32_t cpu) {
                                       return place_of(*machine, profiled.hosts.size(), host, cpu);
                                     });
  check(profiled.trace);
  return profiled;
}

std::optional<Profiled> ProfiledLaunch::collect(bool failed) const {
  std::error_code error;
  if (fs::exists(whole(), error)) return from_blocks(profile::decode(whole(), read_file(whole())));
  const std::vector<profile::RankProfile> parts = left_parts(folder_);
  if (parts.empty()) {
    if (fs::exists(folder_ + std::string(profile::kToldFile), error)) return std::nullopt;
    // A rank creates its file in MPI_Init, so an empty folder means that no rank called MPI_Init.
    const bool has_begun = !fs::is_empty(folder_, error) && !error;
    note(command_, has_begun ? "no profile: the program ended before a rank finished a phase"
                   : failed  ? "no profile: the command ended with an error, and no rank called "
                               "MPI_Init with Poise's library loaded"
                             : "no profile: no rank called MPI_Init of a shared MPI library on a "
                               "file system that this host sees; is it an MPI program, not linked "
                               "statically, and do all scripts leave LD_PRELOAD as it is?");
    return std::nullopt;
  }
  note(command_, text_of_early_end(parts));
  return from_blocks(parts);
}

}  // namespace poise::apps
