// SPDX-License-Identifier: BSD-3-Clause
// Every environment variable that Poise reads: who reads it, what it takes, its default and its
// meaning. Settings are parsed, and help and documents are written, from this table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"

namespace poise {

/// Who reads a variable, a bit each.
namespace reader {
inline constexpr unsigned command = 1, juggle = 2, objects = 4, tasks = 8, chameleon = 16,
                          target = 32, charm = 64, tests = 128, python = 256, preloaded = 512;
}  // namespace reader

struct Variable {
  std::string_view name;
  unsigned readers;
  std::string_view takes;    // completes "is not ..."; may hold the unit
  std::string_view initial;  // the value that stands for an unset variable; empty: see help
  std::string_view help;
  std::span<const std::string_view> choices = {};
};

/// All variables, those of one reader together, in the order in which a runtime applies them.
std::span<const Variable> variables();

/// The variable of this name, which must exist.
const Variable& variable(std::string_view name);

/// The settings of the tasks runtime. The variable of `min_gain` is POISE_TASKS_MIN_GAIN.
std::span<const Knob> task_settings();
inline constexpr std::string_view kTasksPrefix = "POISE_TASKS_";
/// The variable of a setting of the tasks runtime.
std::string task_variable(std::string_view setting);

/// "objects, tasks": the readers in words.
std::string readers_text(unsigned readers);

/// A sentence for each variable of the environment (a list that ends with null) that has no effect
/// in a program whose runtimes are `readers`: names that only resemble a variable, and variables of
/// other runtimes. Names that resemble none may belong to others and are not mentioned, nor are
/// variables of commands and tests.
std::vector<std::string> notes_on(const char* const* environment, unsigned readers);

/// The same, without the variables of other runtimes: for commands that start other programs.
std::vector<std::string> notes_on_misspelt(const char* const* environment);

/// The position of the text among the variable's choices. Throws Error, which names the nearest.
std::size_t choice_of(const Variable& variable, std::string_view text);
/// A whole number up to 2^31 - 1. Throws Error.
std::uint32_t count_of(const Variable& variable, std::string_view text);
/// A time with its unit, in seconds. Throws Error.
double duration_s_of(const Variable& variable, std::string_view text);

}  // namespace poise
