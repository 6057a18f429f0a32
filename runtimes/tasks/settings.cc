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

namespace poise::tasks {

namespace {

constexpr std::string_view kPrefix = "POISE_TASKS_";
constexpr std::string_view kSwitch[] = {"0", "1"};
constexpr std::string_view kPolicies[] = {"cost", "paired", "lightest", "none"};
// "auto" switches it on with MPI_THREAD_MULTIPLE.
constexpr std::string_view kProgressThread[] = {"auto", "on", "off"};

constexpr Knob kSettings[] = {
    {"policy", 0, 0, 3, "how to decide how many tasks to lend to which rank", kPolicies},
    {"pull", 1, 0, 1, "idle ranks send steal requests", kSwitch},
    {"push", 1, 0, 1, "loaded ranks lend without a request", kSwitch},
    {"min_gain", 0.1, 0, 1, "policy cost: lend if that shortens the wait by at least this share"},
    {"min_local", 2, 0, 1e9, "policies paired and lightest: min queued tasks of a lender"},
    {"min_absolute", 2, 0, 1e18,
     "paired and lightest: min difference of queued tasks between two ranks"},
    {"min_relative", 0.05, 0, 1,
     "paired and lightest: min difference divided by the larger number"},
    {"share", 0.5, 0, 1, "paired and lightest: share of the difference that is lent at once"},
    {"max_tasks", 1, 1, 1e9, "paired and lightest: max tasks lent at once"},
    {"poll_us", 5, 0, 1e6, "min microseconds between two polls of a busy thread"},
    {"progress_thread", 0, 0, 2, "a thread that polls during long tasks", kProgressThread},
    {"progress_us", 2000, 1, 1e6, "min microseconds between two polls of the progress thread"},
    {"large_bytes", 16384, 1, 1e9,
     "items of at least this size are sent separately, without a copy"},
    {"chunk_bytes", 1073741824, 1, 2147483647, "max bytes of one MPI message"},
    {"batch_bytes", 4194304, 1, 1e15,
     "max bytes of tasks lent at once, and waiting at one borrower"},
    {"shared_bytes", 68719476736, 0, 1e15,
     "address space per rank for memory shared within the node"},
    {"delay_us", 0, 0, 1e6, "for tests: max microseconds by which messages are delayed at random"},
    {"patience_s", 60, 0, 1e9, "seconds in a wait after which missing ranks are named (0: never)"},
    {"summary", 0, 0, 1, "print the counters of all ranks at the end", kSwitch},
};

// Deprecated names of settings, each with the present name.
constexpr std::pair<std::string_view, std::string_view> kDeprecated[] = {
    {"helper", "progress_thread"}, {"helper_us", "progress_us"}};

// The trace is set by a variable only: its value is a path, and only rank 0 reads it.
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
  const std::string name = present_name(changed(variable.substr(kPrefix.size()), std::tolower));
  if (name == kTrace) return;
  const auto knob = std::ranges::find(kSettings, std::string_view(name), &Knob::name);
  if (knob == std::end(kSettings)) refuse_variable(variable, name);
  knob_value(*knob, variable, value);  // checks the value; an error names the variable
  settings.set("tasks", name, value);
}

}  // namespace

std::span<const Knob> setting_knobs() { return kSettings; }

void apply_program(Knobs& settings, std::string_view text) {
  for (const std::string_view setting : split(text, ',')) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      fail("tasks: \"{}\" is not of the form SETTING=VALUE", setting);
    settings.set("tasks", present_name(std::string(setting.substr(0, equals))),
                 setting.substr(equals + 1));
  }
}

void apply_environment(Knobs& settings, const char* const* environment) {
  for (; *environment; ++environment) {
    const std::string_view text = *environment;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    apply_variable(settings, text.substr(0, equals), text.substr(equals + 1));
  }
}

}  // namespace poise::tasks
