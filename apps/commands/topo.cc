// SPDX-License-Identifier: BSD-3-Clause
// `poise topo`: draws a machine.
#include <CLI/CLI.hpp>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"

#include "poise/machine/draw.h"
#include "poise/machine/find.h"
#include "poise/machine/json.h"

namespace poise::apps {

namespace {

struct TopoOptions {
  std::string machine = "live";
  bool json = false;
};

}  // namespace

void add_topo(CLI::App& app) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* command =
      app.add_subcommand("topo", "Draw a machine: levels, domains, factors, caches, speeds");
  add_text(*command, "-m,--machine", "M", options->machine,
           "\"live\", \"job\", a .json or hwloc .xml file, text such as \"numa:2 core:4\", "
           "or a name");
  command->add_flag("--json", options->json, "Print the machine as JSON, itself a machine file");
  command->footer("Example: poise topo --machine NUMA48");
  command->callback([options] {
    const Machine machine = find_machine(options->machine);
    print(options->json ? machine_to_json(machine) : draw_machine(machine));
  });
}

}  // namespace poise::apps
