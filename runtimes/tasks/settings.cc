#include "runtimes/tasks/settings.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::tasks {

namespace {

constexpr std::string_view kPrefix = "POISE_TASKS_";
constexpr std::string_view kProgressThread[] = {"auto", "on",
                                                "off"};  // auto: with MPI_THREAD_MULTIPLE
constexpr std::string_view kSwitch[] = {"0", "1"};
constexpr std::string_view kPolicies[] = {"cost", "paired", "lightest", "none"};

constexpr Knob kSettings[] = {
    {"policy", 0, 0, 3, "who lends how much to whom", kPolicies},
    {"pull", 1, 0, 1, "idle ranks ask for tasks", kSwitch},
    {"push", 1, 0, 1, "loaded ranks lend unasked", kSwitch},
    {"min_gain", 0.1, 0, 1, "policy cost: the end must come sooner by this share"},
    {"min_local", 2, 0, 1e9, "policies paired, lightest: tasks queued at the lender"},
    {"min_absolute", 2, 0, 1e18, "the same: smallest difference in tasks"},
    {"min_relative", 0.05, 0, 1, "the same: smallest difference over the larger"},
    {"share", 0.5, 0, 1, "the same: of the difference, lent at once"},
    {"max_tasks", 1, 1, 1e9, "the same: most tasks lent at once"},
    {"poll_us", 5, 0, 1e6, "busy threads look at messages this often at most"},
    {"helper", 0, 0, 2, "a thread that looks at messages during long tasks", kProgressThread},
    {"helper_us", 2000, 1, 1e6, "how long the helper sleeps between looks, at least"},
    {"large_bytes", 16384, 1, 1e9, "items from this size travel on their own, without a copy"},
    {"chunk_bytes", 1073741824, 1, 2147483647, "longest single MPI message"},
    {"batch_bytes", 4194304, 1, 1e15, "most data lent at once, and waiting at a rank"},
    {"shared_bytes", 68719476736, 0, 1e15, "address space of a rank for memory its node sees"},
    {"delay_us", 0, 0, 1e6, "for tests: messages are held back up to so long, in any order"},
    {"patience_s", 60, 0, 1e9, "after this long in a wait, say who has not come (0: never)"},
    {"summary", 0, 0, 1, "print the counters of all ranks at the end", kSwitch},
};

constexpr std::string_view kTrace = "trace";  // no number, and read by rank 0 only

std::string changed(std::string_view text, int (*change)(int)) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [=](unsigned char c) { return static_cast<char>(change(c)); });
  return result;
}

std::string variable_of(std::string_view name) {
  return std::string(kPrefix) + changed(name, std::toupper);
}

[[noreturn]] void refuse_variable(std::string_view variable, std::string_view name) {
  std::vector<std::string_view> names = names_of(setting_knobs());
  names.push_back(kTrace);
  const std::string_view nearest = name.empty() ? "" : nearest_name(name, names);
  if (!nearest.empty())
    fail("there is no variable {}; did you mean {}?", variable, variable_of(nearest));
  std::vector<std::string> variables;
  for (const std::string_view known : names) variables.push_back(variable_of(known));
  fail("there is no variable {}; known: {}", variable, fmt::join(variables, ", "));
}

void apply_variable(Knobs& settings, std::string_view variable, std::string_view value) {
  const std::string name = changed(variable.substr(kPrefix.size()), std::tolower);
  if (name == kTrace) return;
  const auto knob = std::ranges::find(kSettings, std::string_view(name), &Knob::name);
  if (knob == std::end(kSettings)) refuse_variable(variable, name);
  knob_value(*knob, variable, value);  // refuses it under the variable's name
  settings.set("tasks", name, value);
}

}  // namespace

std::span<const Knob> setting_knobs() { return kSettings; }

void apply_environment(Knobs& settings, const char* const* environment) {
  for (; *environment; ++environment) {
    const std::string_view text = *environment;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    apply_variable(settings, text.substr(0, equals), text.substr(equals + 1));
  }
}

}  // namespace poise::tasks
