// SPDX-License-Identifier: BSD-3-Clause
// Command-line options of the mini-apps: declares, parses and prints them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
}

namespace poise::miniapps {

/// The exit status of a program that must end immediately, and the text that it prints: status 0
/// after --help, status 2 after wrong usage.
struct Over {
  int status;
  std::string text;  // the help, or one line that says what is wrong
};

/// The options of one program. An option that is not given keeps its initial value. If a numeric
/// option is given twice, the last value is used.
class Arguments {
 public:
  Arguments(const char* summary, const char* program);
  ~Arguments();

  /// Adds a numeric option. Its help shows the default; values outside [least, most] are refused.
  /// Value is int, uint32_t, uint64_t or double.
  template <typename Value>
  void add(const char* name, Value& value, const char* help, std::type_identity_t<Value> least,
           std::type_identity_t<Value> most);
  void add(const char* name, std::string& value, const char* help);
  /// Adds an option that takes integers of at least 0, separated by commas.
  void add(const char* name, std::vector<int>& values, const char* help);
  /// Adds a flag. If `needed` names another flag, the new flag is valid only with that flag.
  void add_flag(const char* name, bool& value, const char* help, const char* needed = nullptr);
  /// Sets the last line of the help text.
  void set_footer(const char* text);

  std::optional<Over> parse(std::vector<std::string> arguments);
  std::optional<Over> parse(int argc, char** argv);
  /// Parses the command line. If the program should end immediately, prints the help or the error,
  /// and returns the exit status.
  std::optional<int> status_after_parsing(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// Prints the text: to stdout for status 0, else to stderr.
void print(const Over& over);

}  // namespace poise::miniapps
