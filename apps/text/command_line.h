// SPDX-License-Identifier: BSD-3-Clause
// Command-line help that fits 80 columns, and one-line errors that say what would work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
class Validator;
}  // namespace CLI

namespace poise::apps {

/// Sets the format of the help for `app` and for commands added to it later.
void set_help_style(CLI::App& app);

/// Adds an option for a whole number of at least `least`. The help shows it as `flag TYPE`.
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type, std::uint64_t& value,
                       const char* help, std::uint64_t least = 0);
CLI::Option* add_count(CLI::App& command, const char* flag, const char* type,
                       std::optional<std::uint64_t>& value, const char* help);

/// Adds an option for a text, which must not be empty: an empty text usually comes from an unset
/// variable of the shell. The help shows it as `flag TYPE`, with the default unless that is empty.
CLI::Option* add_text(CLI::App& command, const char* flag, const char* type, std::string& value,
                      const std::string& help);

/// Accepts numbers from `least` to `most` only. CLI11's own check of a range accepts "nan".
CLI::Validator number_between(double least, double most);

/// Explains in one line why the command line is wrong: the wrong word, the nearest known one, and
/// where to find help.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace poise::apps
