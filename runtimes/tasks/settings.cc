// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/settings.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/base/variables.h"

namespace poise::tasks {

namespace {

// Deprecated names of settings, with their present names.
constexpr std::pair<std::string_view, std::string_view> kDeprecated[] = {
    {"helper", "progress_thread"}, {"helper_us", "progress_us"}};

// The trace can be set by a variable only, because its value is a path that only rank 0 reads.
constexpr std::string_view kTrace = "trace";

std::string present_name(std::string name) {
  for (const auto& [deprecated, present] : kDeprecated)
    if (name == deprecated) return std::string(present);
  return name;
}

std::string changed(std::string_view text, int (*change)(int)) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [=](unsigned char c) { return static_cast<char>(change(c)); });
  return result;
}

[[noreturn]] void refuse_variable(std::string_view variable, std::string_view name) {
  std::vector<std::string_view> names = names_of(setting_knobs());
  names.push_back(kTrace);
  const std::string_view nearest = name.empty() ? "" : nearest_name(name, names);
  if (!nearest.empty())
    fail("unknown environment variable {}; did you mean {}?", variable, task_variable(nearest));
  std::vector<std::string> variables;
  for (const std::string_view known : names) variables.push_back(task_variable(known));
  fail("unknown environment variable {}; known variables: {}", variable,
       fmt::join(variables, ", "));
}

void apply_variable(Knobs& settings, std::string_view variable, std::string_view value) {
  const std::string name =
      present_name(changed(variable.substr(kTasksPrefix.size()), std::tolower));
  if (name == kTrace) return;
  const auto knobs = setting_knobs();
  const auto knob = std::ranges::find(knobs, std::string_view(name), &Knob::name);
  if (knob == knobs.end()) refuse_variable(variable, name);
  knob_value(*knob, variable, value);  // throws if the value is wrong; the error names the variable
  settings.set("tasks", name, value);
}

}  // namespace

std::span<const Knob> setting_knobs() { return task_settings(); }

void apply_program(Knobs& settings, std::string_view text) {
  for (const std::string_view setting : split(text, ',')) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      fail("tasks: \"{}\" is not of the form SETTING=VALUE, such as policy=paired", setting);
    const std::string name = present_name(std::string(setting.substr(0, equals)));
    const auto names = names_of(setting_knobs());
    if (std::ranges::find(names, std::string_view(name)) == names.end())
      throw Error(unknown_name("setting of tasks", name, names));
    settings.set("tasks", name, setting.substr(equals + 1));
  }
}

void apply_environment(Knobs& settings, const char* const* environment) {
  for (; *environment; ++environment) {
    const std::string_view text = *environment;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kTasksPrefix) || equals == std::string_view::npos) continue;
    apply_variable(settings, text.substr(0, equals), text.substr(equals + 1));
  }
}

}  // namespace poise::tasks
