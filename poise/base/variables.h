// SPDX-License-Identifier: BSD-3-Clause
// Every environment variable that Poise reads: who reads it, which values are allowed, its default
// and its meaning. This table is used to parse settings and to generate the help and the
// documentation.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"

namespace poise {

/// The programs that read an environment variable, one bit each.
namespace reader {
inline constexpr unsigned command = 1, juggle = 2, objects = 4, tasks = 8, chameleon = 16,
                          target = 32, charm = 64, tests = 128, python = 256, preloaded = 512,
                          partitioners = 1024;
}  // namespace reader

struct Variable {
  std::string_view name;
  unsigned readers;
  std::string_view takes;    // completes "is not ..."; may hold the unit
  std::string_view initial;  // default value; empty if only `help` describes it
  std::string_view help;
  std::span<const std::string_view> choices = {};
};

/// All environment variables, grouped by program, in the order in which the program applies them.
std::span<const Variable> variables();

/// Returns the variable of this name, which must exist.
const Variable& variable(std::string_view name);

/// The settings of the tasks runtime. For example, POISE_TASKS_MIN_GAIN is the environment variable
/// for the setting `min_gain`.
std::span<const Knob> task_settings();
inline constexpr std::string_view kTasksPrefix = "POISE_TASKS_";
/// Returns the name of the environment variable for a setting of the tasks runtime.
std::string task_variable(std::string_view setting);

/// Returns the set of programs `readers` as text, such as "objects, tasks".
std::string readers_text(unsigned readers);

/// Returns one sentence for each environment variable that the user may expect to have an effect
/// but that has none: names that resemble a variable of Poise, and variables that only other
/// runtimes read. `environment` is a list that ends with null, and `readers` are the runtimes of
/// the program. Other names may belong to other software and are not mentioned. Variables that only
/// commands or tests read are not mentioned, either.
std::vector<std::string> notes_on(const char* const* environment, unsigned readers);

/// Returns one sentence for each environment variable whose name seems to be a misspelling of one
/// of Poise's variables; the keys of the result are these names. A command that starts other
/// programs stores the names, separated by spaces, in the variable kNotedNames, so that those
/// programs do not report them again.
std::map<std::string, std::string> notes_on_misspelt(const char* const* environment);
inline constexpr std::string_view kNotedNames = "POISE_NOTED_NAMES";

/// Returns the index of the text among the allowed values of the variable. If the text is none of
/// them, throws Error naming the most similar one.
std::size_t choice_of(const Variable& variable, std::string_view text);
/// Reads a whole number up to 2^31 - 1. Throws Error for any other text.
std::uint32_t count_of(const Variable& variable, std::string_view text);
/// Reads a time with its unit and returns seconds. Throws Error for any other text.
double duration_s_of(const Variable& variable, std::string_view text);

}  // namespace poise
