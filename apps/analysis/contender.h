// SPDX-License-Identifier: BSD-3-Clause
// The candidates of a comparison: strategies of Poise, strategies of the user, and placements from
// files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise::apps {

/// Default time limit of a user's program, as text in the form that limit_s() parses.
inline constexpr std::string_view kExecLimit = "60s";
/// Parses --exec-limit and returns seconds. Throws Error.
double limit_s(std::string_view text);

struct Contender {
  std::string name;  // the contender as text, in the form that --strategies takes
  std::function<Placement(const Problem&)> decide;
  /// The strategy's limit on the memory of a place, in bytes. If the limit is 0, the strategy
  /// limits only the memory of domains. Without a value, the strategy ignores memory.
  std::optional<std::uint64_t> memory_bytes = std::nullopt;
};

Contender contender_of(const Choice& choice);

/// Parses a comma-separated list. Each item is NAME[:KNOB=VALUE,...], a strategy of Poise;
/// exec:COMMAND, a program (program_strategy.h); or plugin:FILE, a shared object
/// (plugin_strategy.h). A program must decide within `limit_s` seconds. Throws Error if an item has
/// none of these forms, or if a shared object cannot be loaded.
std::vector<Contender> parse_contenders(std::string_view list, double limit_s);

/// Parses a text that must name exactly one strategy. Throws Error otherwise.
Contender contender_named(std::string_view text, double limit_s);

/// Returns the files that the exec: and plugin: items of a list for parse_contenders() may name.
/// These files are inputs, so no result may overwrite them. Every word of a command counts as a
/// file.
std::vector<std::string> strategy_files(std::string_view list);

/// Reads a placement from NAME=FILE. Throws Error naming the file.
Contender contender_of_file(const std::string& name_and_file);

}  // namespace poise::apps
