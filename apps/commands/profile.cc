// SPDX-License-Identifier: BSD-3-Clause
// `poise profile`: runs an unmodified MPI program and records what its ranks did.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/commands/profiled_launch.h"
#include "apps/report/diagnosis_page.h"
#include "apps/report/diagnosis_text.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "runtimes/profile/settings.h"
#include "runtimes/profile/to_measured.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

namespace {

struct ProfileOptions {
  std::vector<std::string> command;
  std::string output = "run.poise", json, html;
  std::string period;  // length of a time slice; empty or "auto": Poise chooses it
};

void note(std::string_view text) { apps::note("profile", text); }

/// Parses --period. 0 means that the library chooses the period. Throws Error if `text` is neither
/// auto nor a duration in the allowed range.
std::int64_t period_ns_of(const std::string& text) {
  if (text.empty() || text == "auto") return 0;
  const std::optional<double> seconds = parse_duration_s(text);
  const double period_ns = 1e9 * seconds.value_or(0);
  if (period_ns < profile::kMinPeriod_ns || period_ns > profile::kMaxPeriod_ns)
    fail("--period takes auto or a time from 10ms to 24h, such as 2s, not {}", text);
  return static_cast<std::int64_t>(period_ns);
}

/// Prints the diagnosis on stderr, because stdout belongs to the program.
void report(const Profiled& profiled, const ProfileOptions& options) {
  std::uint64_t error_ns = 0;
  for (const profile::RankProfile& rank : profiled.ranks)
    error_ns = std::max(error_ns, rank.clock_error_ns);
  if (error_ns > 0) note(fmt::format("clocks of the hosts agree to {:.1f} us", 1e-3 * error_ns));
  if (profiled.ranks[0].phases.empty()) return;
  const MeasuredRun run = profile::measured(profiled.ranks);
  const Diagnosis diagnosis = diagnose(run, profiled.trace);
  if (!options.json.empty()) write_file(options.json, diagnosis_json(run, diagnosis));
  if (!options.html.empty())
    write_file(options.html, diagnosis_page(run, diagnosis, options.output));
  say("\n" + diagnosis_text(run, diagnosis, options.output));
}

void write_trace_of(const Profiled& profiled, const ProfileOptions& options) {
  write_file(options.output, profiled.file());
  note(fmt::format("{}: {}, {}", options.output, count_text(profiled.ranks.size(), "rank"),
                   count_text(profiled.trace.phases.size(), "phase")));
  report(profiled, options);
}

void run(const ProfileOptions& options) {
  if (options.command.empty())
    fail("COMMAND is missing; example: poise profile -- mpirun -np 4 ./program");
  check_outputs({options.output, options.json, options.html}, {options.command.front()});
  const std::int64_t period_ns = period_ns_of(options.period);
  std::optional<ProfiledLaunch> launch;
  try {
    launch.emplace("profile", options.output);
  } catch (const Error& trouble) {
    note(fmt::format("no profile: {}; running the command unchanged", trouble.what()));
  }
  const juggle::Ending ending =
      run_command(launch ? launch->preloading(options.command, period_ns) : options.command);
  juggle::ignore_signals_of_writing();
  if (!ending.text.empty()) note(ending.text);
  try {
    std::optional<Profiled> profiled;
    if (launch && ending.text.empty()) profiled = launch->collect(ending.status != 0);
    if (profiled) write_trace_of(*profiled, options);
  } catch (const Error& trouble) {  // poise still exits with the program's status
    note(fmt::format("no profile: {}", trouble.what()));
  }
  launch.reset();
  juggle::end_like(ending);
}

}  // namespace

void add_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand(
      "profile", "Run an unmodified MPI program and record where its ranks' time goes");
  command->add_option("command", options->command, "The launcher, after --, and its arguments")
      ->type_name("COMMAND")
      ->option_text("-- COMMAND...");
  add_text(*command, "-o,--output", "FILE", options->output, "Write the trace to FILE");
  add_text(*command, "--json", "FILE", options->json,
           "Also write the diagnosis as JSON to FILE; without FILE: to stdout, when the "
           "program has ended");
  add_text(*command, "--html", "FILE", options->html,
           "Also write the diagnosis as a page with pictures to FILE");
  add_text(*command, "--period", "T", options->period,
           "Cut the run into phases of this length, such as 2s; auto: by MPI_Pcontrol or "
           "iterations (default: auto)");
  command->footer(
      "The exit status is that of COMMAND, or 127 if COMMAND is not found, 126 if it is not\n"
      "executable.\n"
      "Example: poise profile -o run.poise -- mpirun -np 4 ./program");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
