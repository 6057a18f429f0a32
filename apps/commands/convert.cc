// SPDX-License-Identifier: BSD-3-Clause
// `poise convert`: writes a trace in another format.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/analysis/inputs.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/report/task_table.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/placement_file.h"
#include "poise/trace/trace.h"

namespace poise::apps {

namespace {

struct ConvertOptions {
  std::string input, output, to, placement;
  ReadOptions reading;
  std::optional<std::uint64_t> phase;
};

void keep_phase(Trace& trace, std::uint64_t id, const std::string& path) {
  std::erase_if(trace.phases, [&](const Phase& phase) { return phase.id != id; });
  if (trace.phases.empty())
    fail("{}: the trace has no phase {}; without --phase all phases are converted", path, id);
}

/// Gives every phase of the trace the placement in the file. If that placement uses more places
/// than the trace has, the trace gets more places.
void place(Trace& trace, const std::string& path) {
  const Placement placement = read_placement(path);
  for (const PlaceId p : placement.places()) trace.num_places = std::max(trace.num_places, p + 1);
  for (Phase& phase : trace.phases) {
    try {
      check(placement, phase.workload.num_tasks(),
            trace.machine ? trace.machine->num_places() : trace.num_places);
    } catch (const Error& error) {
      fail("{}: phase {}: {}", path, phase.id, error.what());
    }
    phase.placement = placement;
    Workload& workload = phase.workload;
    if (!workload.background_s.empty()) workload.background_s.resize(trace.num_places);
    if (!workload.place_bytes.empty()) workload.place_bytes.resize(trace.num_places);
  }
}

/// True if the output is a table of tasks instead of a trace: with --to csv, with --to json, or
/// without --to if the file name ends with .csv. Without --to, a name with .json means a trace in
/// the vt format.
bool is_table(const ConvertOptions& options) {
  return options.to == "csv" || options.to == "json" ||
         (options.to.empty() && options.output.ends_with(".csv"));
}

void write(const Trace& trace, const ConvertOptions& options) {
  if (is_table(options))
    write_file(options.output, options.to == "json" ? json_of_tasks(trace) : csv_of_tasks(trace));
  else
    write_trace(trace, options.output, options.to);
}

/// Throws Error if the output format is not a trace format. The error text of check_form() does not
/// mention tables of tasks, so this function appends a hint that says how to write one.
void check_trace_form(const ConvertOptions& options) {
  try {
    check_form(options.output, options.to);
  } catch (const Error& error) {
    fail("{}; to write a table of tasks, give an OUT that ends in .csv, or --to csv or --to json",
         error.what());
  }
}

/// True if stdout writes to the file at this path, as for /dev/stdout.
bool is_stdout(const std::string& path) {
  struct stat named {};
  struct stat stdout_file {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &stdout_file) == 0 &&
         named.st_dev == stdout_file.st_dev && named.st_ino == stdout_file.st_ino;
}

void convert(const ConvertOptions& options) {
  check_stdin({options.input, options.placement});
  if (options.output == "-") fail("cannot write to \"-\"; use /dev/stdout to write to stdout");
  if (!is_table(options)) check_trace_form(options);
  check_differs(options.output, std::vector{options.placement});
  // With --recover, the input may be the trace of a program that is still running. If the output
  // replaced this file, the phases that the program writes later would be lost.
  if (options.reading.recover) check_differs(options.output, std::vector{options.input});
  Trace trace = read_trace(options.input, options.reading);
  if (options.phase) keep_phase(trace, *options.phase, options.input);
  if (!options.placement.empty()) place(trace, options.placement);
  write(trace, options);
  std::vector<std::string> notes;
  for (const std::string& assumed : trace.assumed)
    notes.push_back(fmt::format("{}: {}", options.input, assumed));
  std::uint64_t tasks = 0, messages = 0;
  for (const Phase& phase : trace.phases) {
    tasks += phase.workload.tasks.size();
    messages += num_messages(phase.workload);
  }
  const std::string summary = fmt::format(
      "{}: {} phase{} on {} places, {} tasks and {} messages in all\n", options.output,
      trace.phases.size(), trace.phases.size() == 1 ? "" : "s", trace.num_places, tasks, messages);
  if (!is_stdout(options.output)) return print(summary, notes);
  print("", notes);  // stdout has the trace, so the summary goes to stderr
  say(summary);
}

std::string list_of_formats() {
  std::string text =
      "Formats, recognised by content when read and by the suffix of OUT when written.\n"
      "Formats marked (read) can be read, but not written:\n";
  for (const TraceFormat& format : trace_formats())
    fmt::format_to(std::back_inserter(text), "  {:<13} {:<9} {}\n", format.name,
                   format.ending.empty() ? "(read)" : format.ending, format.description);
  return text +
         "  csv           .csv      the table of tasks, in the order of a placement file's lines\n"
         "  json          (--to)    the table of tasks as JSON\n";
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand("convert", "Convert a trace to another format");
  command->add_option("IN", options->input, "A trace in one of the formats below, or - for stdin")
      ->required();
  command->add_option("OUT", options->output, "A file, or the stem of several files")->required();
  add_text(*command, "--from", "F", options->reading.format, "Format of IN (default: by content)");
  add_text(*command, "--to", "F", options->to, "Format of OUT (default: by its suffix)");
  add_text(*command, "--placement", "FILE", options->placement,
           "Placement of the tasks: a file with one place number per line");
  add_count(*command, "--phase", "K", options->phase, "Only this phase (default: all)");
  command->add_flag("--recover", options->reading.recover,
                    "Read the complete phases of a .poise file that was not finished");
  command->footer(list_of_formats() + "\nExample: poise convert lb_data step.poise");
  command->callback([options] { convert(*options); });
}

}  // namespace poise::apps
