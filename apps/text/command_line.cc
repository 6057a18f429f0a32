// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <memory>
#include <string_view>
#include <vector>

#include "poise/base/text.h"

namespace poise::apps {

namespace {

constexpr std::size_t kNameColumns = 28, kColumns = 80;

/// Formats "  NAME      text", with the text wrapped and indented.
std::string entry(const std::string& name, const std::string& text) {
  std::string line = "  " + name;
  std::string out;
  const auto break_line = [&] {
    out += line + '\n';
    line.assign(kNameColumns, ' ');
  };
  if (line.size() + 2 > kNameColumns)
    break_line();
  else
    line.resize(kNameColumns, ' ');
  for (const std::string_view word : split(text, ' ')) {
    if (line.size() + word.size() > kColumns) break_line();
    line.append(word).append(" ");
  }
  break_line();
  for (std::size_t space; (space = out.find(" \n")) != std::string::npos;) out.erase(space, 1);
  return out;
}

class HelpStyle : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    if (!is_positional) name += make_option_opts(option);
    std::string text = option->get_description();
    if (!option->get_default_str().empty())
      text += fmt::format(" (default: {})", option->get_default_str());
    return entry(name, text);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
  /// If an option has a text of its own (option_text() of CLI11), such as "-- COMMAND...", the
  /// usage line shows this text.
  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? CLI::Formatter::make_option_usage(option)
                                             : option->get_option_text();
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n";
  }
};

/// Accepts whole numbers only. CLI11's own conversion, which comes afterwards, would read -1 as
/// 2^64 - 1, and 010 as an octal number. So this check refuses -1 and removes leading zeros. It
/// also accepts notations such as 1e9 up to 1e15, because a double holds these numbers exactly.
CLI::Validator whole_number(std::uint64_t least) {
  const auto check = [least](std::string& text) {
    auto value = parse_unsigned(text);
    if (const auto number = parse_number(text);
        !value && number && *number >= 0 && *number <= 1e15 && *number == std::floor(*number))
      value = *number;
    if (!value || *value < least)
      return fmt::format("takes a whole number from {}, not \"{}\"", least, text);
    text = std::to_string(*value);
    return std::string();
  };
  return CLI::Validator(check, "");
}

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return unknown_name("command", word, views_of(names));
}

std::string unknown_option(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return unknown_name("option", word.substr(0, word.find('=')), views_of(names));
}

std::string unexpected(const CLI::App& command, const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-';
  });
  if (option != words.end()) return unknown_option(command, *option);
  const std::string& word = words.front();
  const bool is_part = word.find(':') != std::string::npos && !std::filesystem::exists(word);
  return fmt::format("unexpected argument \"{}\"{}", word,
                     is_part ? "; put the text of a machine in quotes" : "");
}

/// Replaces unclear error texts of CLI11.
std::string reworded(const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string option = text.substr(0, text.find(':'));
  if (error.get_name() == "RequiredError") return text.substr(0, text.find(' ')) + " is missing";
  if (error.get_name() == "ExcludesError") {
    const std::size_t excludes = text.find(" excludes ");
    if (excludes != std::string::npos)
      return fmt::format("{} and {} exclude each other", text.substr(0, excludes),
                         text.substr(excludes + 10));
  }
  const std::size_t limit = text.find(": At Most ");
  if (limit != std::string::npos && !text.substr(limit).starts_with(": At Most 1 "))
    return option + " is given more than" +
           text.substr(limit + 9, text.find(" required") - limit - 9) + " times";
  if (error.get_name() == "ArgumentMismatch")
    return option + (text.find("missing") != std::string::npos ? " needs a value"
                                                               : " is given more than once");
  if (error.get_name() == "ValidationError" && text.starts_with(option + ": takes"))
    return option + text.substr(option.size() + 1);
  return text;
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    const auto value = parse_number(text);
    return value && *value >= least && *value <= most
               ? std::string()
               : fmt::format("takes a number from {:g} to {:g}, not \"{}\"", least, most, text);
  };
  return CLI::Validator(check, "");
}

void set_help_style(CLI::App& app) { app.formatter(std::make_shared<HelpStyle>()); }

CLI::Option* add_count(CLI::App& command, const char* flag, const char* type, std::uint64_t& value,
                       const char* help, std::uint64_t least) {
  return command.add_option(flag, value, help)
      ->transform(whole_number(least))
      ->type_name(type)
      ->capture_default_str();
}

CLI::Option* add_count(CLI::App& command, const char* flag, const char* type,
                       std::optional<std::uint64_t>& value, const char* help) {
  return command.add_option(flag, value, help)->transform(whole_number(0))->type_name(type);
}

CLI::Option* add_text(CLI::App& command, const char* flag, const char* type, std::string& value,
                      const std::string& help) {
  const auto check = [type](const std::string& text) {
    return text.empty() ? fmt::format("takes {}, not an empty text", type) : std::string();
  };
  return command.add_option(flag, value, help)
      ->check(CLI::Validator(check, ""))
      ->type_name(type)
      ->capture_default_str();
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const std::vector<std::string> rest = app.remaining(true);
  if (chosen.empty()) {
    if (rest.empty()) return "no command is given; see poise --help";
    const bool is_option = rest.front().starts_with('-');
    return is_option ? unknown_option(app, rest.front()) : unknown_command(app, rest.front());
  }
  const CLI::App& command = *chosen.front();
  // Tests the error's C++ type, because ExtrasError::get_name() returns the name of the program,
  // not of the error.
  const bool has_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty();
  const std::string text = has_extras ? unexpected(command, rest) : reworded(error);
  return fmt::format("{}; see poise {} --help", text, command.get_name());
}

}  // namespace poise::apps
