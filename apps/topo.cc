// `poise topo`: draws a machine.
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <memory>

#include "apps/commands.h"

#include "poise/machine/draw.h"
#include "poise/machine/find.h"
#include "poise/machine/json.h"

namespace poise::apps {

namespace {

struct Options {
  std::string machine = "live";
  bool json = false;
};

}  // namespace

void add_topo(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("topo", "Draw a machine: levels, domains, factors, caches, speeds");
  command->add_option("--machine", options->machine,
                      "live, a .json or .xml file, text, or a name (default: live)");
  command->add_flag("--json", options->json, "print the machine as JSON, a machine file itself");
  command->footer("Example: poise topo --machine \"node:2 numa:2 core:4 factors:10,1.5,1\"");
  command->callback([options] {
    const Machine machine = find_machine(options->machine);
    fmt::print("{}", options->json ? machine_to_json(machine) : draw_machine(machine));
  });
}

}  // namespace poise::apps
