// SPDX-License-Identifier: BSD-3-Clause
// The program `poise`. commands/ has one file per subcommand. Errors are printed here only.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "apps/commands/commands.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/base/error.h"
#include "poise/base/variables.h"
#include "poise/base/version.h"

extern char** environ;

namespace {

/// Opens /dev/null in place of stdin, stdout and stderr if they are closed. Otherwise the next
/// opened file would get the descriptor 0, 1 or 2, and messages would be written to that file.
/// Reading stdin and writing stdout or stderr still fail, and programs that this process starts
/// still find these descriptors closed.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/// Prints the text of --help and --version to stdout, where all results go.
void print_help(const CLI::App& app, const CLI::ParseError& request) {
  std::ostringstream text, errors;
  app.exit(request, text, errors);
  poise::apps::print(text.str());
}

/// Prints the error as one line. Line breaks in words that the user typed become spaces.
void print_error(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  poise::apps::say_line("poise", text);
}

/// Prints a note for every environment variable whose name seems misspelt. Also stores these names
/// in an environment variable, so that programs which this command starts do not report the names
/// again.
void note_misspelt_variables() {
  const std::string name(poise::kNotedNames);
  const char* const noted = std::getenv(name.c_str());
  std::string names = noted == nullptr ? "" : noted;
  const auto notes = poise::notes_on_misspelt(environ);
  for (const auto& [misspelt, note] : notes) {
    poise::apps::say_line("poise", note);
    names += (names.empty() ? "" : " ") + misspelt;
  }
  if (!notes.empty()) ::setenv(name.c_str(), names.c_str(), 1);
}

/// Lets `poise profile --json -- COMMAND` write the JSON to stdout. Without this function, CLI11
/// would use the word after --json ("--" or the next option) as the name of the output file.
void name_file_of_bare_json(int argc, char** argv) {
  static char on_stdout[] = "--json=/dev/stdout";
  const std::string_view command = argc > 1 ? argv[1] : "";
  for (int i = 2; command == "profile" && i + 1 < argc; ++i) {
    const std::string_view word = argv[i], next = argv[i + 1];
    if (word == "--") return;
    if (word == "--json" && next.size() > 1 && next.front() == '-') argv[i] = on_stdout;
  }
}

/// Lets `poise help` and `poise help COMMAND` show what --help shows.
void take_help_as_option(int argc, char** argv) {
  static char option[] = "--help";
  if (argc < 2 || argc > 3 || std::string_view(argv[1]) != "help") return;
  argv[1] = option;
  if (argc == 3) std::swap(argv[1], argv[2]);
}

void run(CLI::App& app, int argc, char** argv) {
  take_help_as_option(argc, argv);
  name_file_of_bare_json(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw;
    print_help(app, error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  CLI::App app("Keeps parallel programs in balance on hierarchical machines.", "poise");
  app.set_version_flag(
      "--version", fmt::format("poise {}\nbuilt with {}", poise::version(), poise::built_with()));
  app.require_subcommand(1);
  poise::apps::set_help_style(app);
  poise::apps::add_topo(app);
  poise::apps::add_measure(app);
  poise::apps::add_generate(app);
  poise::apps::add_plan(app);
  poise::apps::add_map(app);
  poise::apps::add_evaluate(app);
  poise::apps::add_compare(app);
  poise::apps::add_convert(app);
  poise::apps::add_strategies(app);
  poise::apps::add_simulate(app);
  poise::apps::add_timeline(app);
  poise::apps::add_theory(app);
  poise::apps::add_juggle(app);
  poise::apps::add_variables(app);
  poise::apps::add_profile(app);
  poise::apps::add_diagnose(app);
  poise::apps::add_run(app);
  app.footer(
      "Exit status: 0 done, 1 failed at run time, 2 bad usage or bad input.\n"
      "poise COMMAND --help says more, with an example.");
  note_misspelt_variables();
  try {
    run(app, argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    print_error(poise::apps::usage_error(app, error));
    return 2;
  } catch (const poise::SystemError& error) {
    print_error(fmt::format("failed: {}", error.what()));
    return 1;
  } catch (const poise::Error& error) {
    print_error(error.what());
    return 2;
  } catch (const std::exception& error) {
    print_error(fmt::format("failed: {}", poise::apps::reason(error)));
    return 1;
  }
}
