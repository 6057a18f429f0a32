// A strategy: a pure function from a problem to a placement, and a row of the table of all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/placement/placement.h"
#include "poise/placement/problem.h"

namespace poise {

/// A row of the table.
struct Strategy {
  std::string_view name, summary, source, complexity;
  Placement (*rebalance)(const Problem&, const Knobs&);
  std::span<const Knob> knobs = {};
  /// Numbers that the strategy was tuned with: set as knobs are, for experiments only.
  std::span<const Knob> tuning = {};
  /// Starts from the current placement: moves nothing where nothing can improve.
  bool is_incremental = false;
  /// Shows what could be reached, in more time than a balancing step has: only where asked for by
  /// name. May refuse a large problem with an Error.
  bool is_oracle = false;
  /// Places tasks as it would if none sent anything: what it is asked need not have messages.
  bool ignores_messages = false;
};

/// Every strategy, in the order in which users should meet them.
std::span<const Strategy> strategies();

/// A strategy with its knobs set.
struct Choice {
  const Strategy* strategy;
  Knobs knobs;
  Placement rebalance(const Problem& problem) const { return strategy->rebalance(problem, knobs); }
  /// "nuco:alpha=0.001": what parse_strategy reads back.
  std::string text() const;
};

/// Reads NAME or NAME:KNOB=VALUE,KNOB=VALUE. Throws Error with the nearest name and the valid ones.
Choice parse_strategy(std::string_view text);

/// Reads a comma-separated list of them; a piece with "=" but no ":" belongs to the one before.
std::vector<Choice> parse_strategies(std::string_view text);

}  // namespace poise
