// SPDX-License-Identifier: BSD-3-Clause
// `poise variables`: lists every environment variable with the programs and libraries that read it,
// its default and its meaning.
#include "poise/base/variables.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "apps/commands/commands.h"
#include "apps/text/output.h"

namespace poise::apps {

namespace {

std::string takes(const Variable& row, std::string_view separator) {
  return row.choices.empty() ? std::string(row.takes)
                             : fmt::format("{}", fmt::join(row.choices, separator));
}

std::string text_of_variables() {
  std::string text;
  for (const Variable& row : variables())
    text +=
        fmt::format("{}{}{} ({})\n    {}\n    takes {}\n", row.name, row.initial.empty() ? "" : "=",
                    row.initial, readers_text(row.readers), row.help, takes(row, ", "));
  return text;
}

nlohmann::ordered_json json_of_variables() {
  auto list = nlohmann::ordered_json::array();
  for (const Variable& row : variables())
    list.push_back({{"name", row.name},
                    {"readers", readers_text(row.readers)},
                    {"takes", takes(row, ", ")},
                    {"initial", row.initial},
                    {"help", row.help}});
  return {{"variables", std::move(list)}};
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("`{}`", text);
}

/// docs/variables.md.
std::string page_of_variables() {
  std::string page =
      "# Environment variables\n\n"
      "`poise variables --page` writes this page from the table in `poise/base/variables.cc`.\n"
      "The column *read by* says who reads a variable: programs on [objects](objects.md),\n"
      "programs on [tasks](tasks.md) (also through CHAMELEON's interface and `omp target`),\n"
      "programs in [Charm++](charm.md), [poise juggle](juggle.md), other\n"
      "[commands](commands.md), [Python](python.md), the library of [poise profile](profile.md),\n"
      "programs that call [ParMETIS or Zoltan](parmetis.md), or Poise's own tests. Everything\n"
      "that takes the name of a machine, including [libpoise](library.md), reads\n"
      "`POISE_MACHINES`. All commands and programs that use what `poise measure` stored about\n"
      "this host, including programs on objects, read `XDG_DATA_HOME`.\n\n"
      "If the value of a variable is wrong, an MPI job ends: rank 0 prints one line, and\n"
      "every rank exits with status 2. A job on [tasks](tasks.md) ends in the same way if the\n"
      "name of a `POISE_TASKS_...` variable is misspelt. If the name of another variable is\n"
      "misspelt, or the program's runtime does not read the variable, rank 0 prints the name\n"
      "once and the job runs. The library of `poise profile` never ends a program: if a value\n"
      "is wrong, rank 0 prints one line, and the default applies.\n\n"
      "| variable | read by | takes | default | meaning |\n|---|---|---|---|---|\n";
  for (const Variable& row : variables())
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, readers_text(row.readers),
                        escaped(takes(row, ", ")), code(row.initial), escaped(row.help));
  return page;
}

}  // namespace

void add_variables(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  auto page = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "variables",
      "List the environment variables, each with its readers, default, meaning and values");
  CLI::Option* as_json =
      command->add_flag("--json", *json, "Print one JSON document and nothing else");
  command->add_flag("--page", *page, "Print the page docs/variables.md")->excludes(as_json);
  command->footer("Example: poise variables");
  command->callback([json, page] {
    print(*page   ? page_of_variables()
          : *json ? json_of_variables().dump(2) + "\n"
                  : text_of_variables());
  });
}

}  // namespace poise::apps
