// SPDX-License-Identifier: BSD-3-Clause
// `poise diagnose`: says why a profiled run lost time, and what would help.
#include "poise/diagnosis/diagnose.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/analysis/inputs.h"
#include "apps/analysis/profiled_run.h"
#include "apps/commands/commands.h"
#include "apps/report/diagnosis_page.h"
#include "apps/report/diagnosis_text.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise::apps {

namespace {

struct DiagnoseOptions {
  std::vector<std::string> files;
  std::string html, json;  // json: the file, or "true" for stdout
};

constexpr const char* kStdout = "true";  // what CLI11 stores for an option without a file name

void run(DiagnoseOptions& options) {
  check_stdin(options.files);
  if (options.json == "false") options.json.clear();  // --json=false: no JSON
  if (!options.html.empty() && options.files.size() == 2)
    fail("--html works with one profile; two profiles can be compared only as text");
  check_outputs({options.html, options.json == kStdout ? "" : options.json}, options.files);
  const ProfiledRun first = read_profiled(options.files[0]);
  if (options.files.size() == 2) {
    if (!options.json.empty())
      fail("--json works with one profile; two profiles can be compared only as text");
    print(scaling_text(first.run, read_profiled(options.files[1]).run));
    return;
  }
  const Diagnosis diagnosis = diagnose(first.run, first.trace);
  if (!options.html.empty())
    write_file(options.html, diagnosis_page(first.run, diagnosis, options.files[0]));
  if (options.json == kStdout) return print(diagnosis_json(first.run, diagnosis));
  if (!options.json.empty()) write_file(options.json, diagnosis_json(first.run, diagnosis));
  print(diagnosis_text(first.run, diagnosis, options.files[0]));
}

}  // namespace

void add_diagnose(CLI::App& app) {
  auto options = std::make_shared<DiagnoseOptions>();
  CLI::App* command = app.add_subcommand(
      "diagnose", "Say why a profiled run lost time and what would help; or compare two runs");
  command->add_option("RUN", options->files, "One or two traces written by poise profile")
      ->type_name("RUN.poise")
      ->option_text("RUN.poise [RUN2.poise]")
      ->required()
      ->expected(1, 2);
  // A flag takes a value only after "=". So in `--json RUN.poise`, RUN.poise is the run to
  // diagnose, not the file to which the JSON is written.
  command->add_flag("--json", options->json,
                    "Print the diagnosis as JSON; --json=FILE prints text and writes JSON to FILE");
  add_text(*command, "--html", "FILE", options->html, "Also write a page with pictures to FILE");
  command->footer(
      "Efficiencies are those of the POP centre of excellence; docs/profile.md explains them.\n"
      "Example: poise diagnose run.poise\n"
      "Example: poise diagnose run16.poise run64.poise");
  command->callback([options] { run(*options); });
}

}  // namespace poise::apps
