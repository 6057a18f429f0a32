// What the user of a mini-app may set, and what was typed.
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

/// Why a program is over before it began: status 0 after --help, 2 for bad usage, said in one line.
struct Over {
  int status;
  std::string text;
};

/// The arguments of one program. Values that are not named keep what they are; of numbers given
/// twice the last counts.
class Arguments {
 public:
  Arguments(const char* summary, const char* program);
  ~Arguments();

  /// An option that says its usual value and refuses what is outside least to most. For int,
  /// uint32_t, uint64_t and double.
  template <typename Value>
  void add(const char* name, Value& value, const char* help, std::type_identity_t<Value> least,
           std::type_identity_t<Value> most);
  void add(const char* name, std::string& value, const char* help);
  /// Numbers from 0 between commas.
  void add(const char* name, std::vector<int>& values, const char* help);
  /// `needed`: another flag without which this one says nothing.
  void add_flag(const char* name, bool& value, const char* help, const char* needed = nullptr);
  /// The last line of the help.
  void set_footer(const char* text);

  std::optional<Over> parse(std::vector<std::string> arguments);
  std::optional<Over> parse(int argc, char** argv);
  /// What `main` returns where the program is over already; the text is printed.
  std::optional<int> status_after_parsing(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// To the stream that its status asks for.
void print(const Over& over);

}  // namespace poise::miniapps
