// The program `poise`. commands/ has a file per subcommand; errors are printed here, once.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <sstream>

#include "apps/commands/commands.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/base/error.h"

namespace {

/// What --help and --version print, to stdout like every result.
void print_help(const CLI::App& app, const CLI::ParseError& request) {
  std::ostringstream text, errors;
  app.exit(request, text, errors);
  poise::apps::print(text.str());
}

void run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw;
    print_help(app, error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Keeps parallel programs in balance on hierarchical machines.", "poise");
  app.set_version_flag("--version", "poise " POISE_VERSION);
  app.require_subcommand(1);
  poise::apps::set_help_style(app);
  poise::apps::add_topo(app);
  poise::apps::add_measure(app);
  poise::apps::add_generate(app);
  poise::apps::add_plan(app);
  poise::apps::add_evaluate(app);
  poise::apps::add_compare(app);
  poise::apps::add_convert(app);
  poise::apps::add_strategies(app);
  poise::apps::add_simulate(app);
  poise::apps::add_theory(app);
  poise::apps::add_juggle(app);
  poise::apps::add_profile(app);
  app.footer(
      "Exit status: 0 done, 1 failed at run time, 2 bad usage or bad input.\n"
      "poise COMMAND --help says more, with an example.");
  try {
    run(app, argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "poise: {}\n", poise::apps::usage_error(app, error));
    return 2;
  } catch (const poise::SystemError& error) {
    fmt::print(stderr, "poise: failed: {}\n", error.what());
    return 1;
  } catch (const poise::Error& error) {
    fmt::print(stderr, "poise: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "poise: failed: {}\n", poise::apps::reason(error));
    return 1;
  }
}
