// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `poise`. Each function adds one subcommand to the command line; the program
// runs the subcommand that the user names.
#pragma once

namespace CLI {
class App;
}

namespace poise::apps {

void add_topo(CLI::App& app);
void add_measure(CLI::App& app);
void add_generate(CLI::App& app);
void add_plan(CLI::App& app);
void add_map(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_compare(CLI::App& app);
void add_convert(CLI::App& app);
void add_strategies(CLI::App& app);
void add_simulate(CLI::App& app);
void add_theory(CLI::App& app);
void add_juggle(CLI::App& app);
void add_variables(CLI::App& app);
void add_profile(CLI::App& app);
void add_diagnose(CLI::App& app);
void add_run(CLI::App& app);
void add_timeline(CLI::App& app);

}  // namespace poise::apps
