// The manners of the command line: help that fits 80 columns, and errors in one line with the cure.
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

/// Help of `app` and of the commands added to it later: wrapped, without noise.
void set_help_style(CLI::App& app);

/// An option that takes a whole number from `least` on, shown as `flag TYPE`.
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type, std::uint64_t& value,
                       const char* help, std::uint64_t least = 0);
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type,
                       std::optional<std::uint64_t>& value, const char* help);

/// What was wrong with the command line, in one line: the word, the nearest known one, and where
/// help is.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace poise::apps
