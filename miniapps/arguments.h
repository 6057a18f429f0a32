// What the user of a mini-app typed.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

namespace poise::miniapps {

/// Reads the arguments. An exit status where the program is over already: 0 after --help, 2 for bad
/// usage, which is said in one line.
inline std::optional<int> status_after_parsing(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 2;
  }
}

}  // namespace poise::miniapps
