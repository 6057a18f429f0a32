// SPDX-License-Identifier: BSD-3-Clause
// A strategy: a pure function from a problem to a placement, and its row in the table of
// strategies.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/placement/placement.h"
#include "poise/placement/problem.h"

namespace poise {

/// One strategy, described by a row of the table of strategies.
struct Strategy {
  std::string_view name, summary, source, complexity;
  Placement (*rebalance)(const Problem&, const Knobs&);
  std::span<const Knob> knobs = {};
  /// Tuning constants of the strategy's algorithm. They can be set by name like knobs (options),
  /// but only experiments should do so.
  std::span<const Knob> tuning = {};
  /// True if the strategy starts from the current placement and changes it only for a better one.
  bool is_incremental = false;
  /// True if the strategy is too slow for use at run time and only shows which results are
  /// possible. It runs only if the user names it, and may refuse a large problem with an Error.
  bool is_oracle = false;
  /// True if messages do not change the placement, so that the problem need not contain them.
  bool ignores_messages = false;
  /// Data, such as positions, that the strategy needs and that are not available if all ranks
  /// decide together. Empty if there are no such data.
  std::string_view needs = {};
};

/// All strategies; the most useful ones come first.
std::span<const Strategy> strategies();

/// A strategy with the values of its knobs.
struct Choice {
  const Strategy* strategy;
  Knobs knobs;
  /// Returns the strategy's placement. If the placement violates the workload's capacity, it is
  /// changed as little as necessary (placement/capacity.h), because no strategy except `poise`
  /// considers capacities.
  Placement rebalance(const Problem& problem) const;
  /// The strategy as text that parse_strategy() reads, such as "nuco:alpha=0.001".
  std::string text() const;
};

/// Reads NAME or NAME:KNOB=VALUE,KNOB=VALUE. If the name of a strategy or knob is unknown, throws
/// Error with the most similar name and all known names.
Choice parse_strategy(std::string_view text);

/// Reads a comma-separated list of strategies. An item with "=" but no ":" sets another knob of the
/// preceding strategy.
std::vector<Choice> parse_strategies(std::string_view text);

}  // namespace poise
