// `poise`: decides who should run where. One file per subcommand; errors are printed here, once.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/output.h"

#include "poise/base/error.h"

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
  app.footer(
      "Exit status: 0 done, 1 failed at run time, 2 bad usage or bad input.\n"
      "poise COMMAND --help tells more, with an example.");
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "poise: {}\n", poise::apps::usage_error(app, error));
    return 2;
  } catch (const poise::Error& error) {
    fmt::print(stderr, "poise: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "poise: failed: {}\n", poise::apps::reason(error));
    return 1;
  }
}
