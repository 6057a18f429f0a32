// Help that fits 80 columns, and errors in one line that say what would work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace poise::apps {

/// Sets the form of the help of `app` and of the commands added to it later.
void set_help_style(CLI::App& app);

/// Adds an option for a whole number of at least `least`; help shows it as `flag TYPE`.
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type, std::uint64_t& value,
                       const char* help, std::uint64_t least = 0);
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type,
                       std::optional<std::uint64_t>& value, const char* help);

/// Why the command line is wrong, in one line: the wrong word, the nearest known one, and where
/// help is.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace poise::apps
