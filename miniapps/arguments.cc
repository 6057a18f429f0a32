// SPDX-License-Identifier: BSD-3-Clause

#include "miniapps/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fmt/core.h>
#include <limits>

namespace poise::miniapps {

Arguments::Arguments(const char* summary, const char* program)
    : app_(std::make_unique<CLI::App>(summary, program)) {}
Arguments::~Arguments() = default;

template <typename Value>
void Arguments::add(const char* name, Value& value, const char* help,
                    std::type_identity_t<Value> least, std::type_identity_t<Value> most) {
  app_->add_option(name, value, help)
      ->capture_default_str()
      ->take_last()
      ->check(CLI::Range(least, most));
}
template void Arguments::add(const char*, int&, const char*, int, int);
template void Arguments::add(const char*, std::uint32_t&, const char*, std::uint32_t,
                             std::uint32_t);
template void Arguments::add(const char*, std::uint64_t&, const char*, std::uint64_t,
                             std::uint64_t);
template void Arguments::add(const char*, double&, const char*, double, double);

void Arguments::add(const char* name, std::string& value, const char* help) {
  app_->add_option(name, value, help)->capture_default_str();
}

void Arguments::add(const char* name, std::vector<int>& values, const char* help) {
  app_->add_option(name, values, help)
      ->delimiter(',')
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
}

void Arguments::add_flag(const char* name, bool& value, const char* help, const char* needed) {
  CLI::Option* const flag = app_->add_flag(name, value, help);
  if (needed) flag->needs(app_->get_option(needed));
}

void Arguments::set_footer(const char* text) { app_->footer(text); }

std::optional<Over> Arguments::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes arguments in reverse order
  try {
    app_->parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return Over{0, app_->help()};
  } catch (const CLI::ParseError& error) {
    return Over{2, fmt::format("{}: {}\n", app_->get_name(), error.what())};
  }
}

std::optional<Over> Arguments::parse(int argc, char** argv) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

std::optional<int> Arguments::status_after_parsing(int argc, char** argv) {
  const auto over = parse(argc, argv);
  if (!over) return std::nullopt;
  print(*over);
  return over->status;
}

void print(const Over& over) { fmt::print(over.status == 0 ? stdout : stderr, "{}", over.text); }

}  // namespace poise::miniapps
