// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/strategy.h"

#include <algorithm>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/placement/capacity.h"

namespace poise {

std::string Choice::text() const {
  const std::string settings = knobs.text();
  return settings.empty() ? std::string(strategy->name)
                          : fmt::format("{}:{}", strategy->name, settings);
}

Placement Choice::rebalance(const Problem& problem) const {
  if (strategy->is_oracle && problem.workload.capacity.is_limited())
    fail("strategy {} does not support capacities; remove the capacity or name another strategy",
         strategy->name);
  return within_capacity(problem, strategy->rebalance(problem, knobs));
}

Choice parse_strategy(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto rows = strategies();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Strategy& s) { return s.name == name; });
  if (row == rows.end()) throw Error(unknown_name("strategy", name, names_of(rows)));

  Choice choice{&*row, Knobs(row->knobs, row->tuning)};
  if (name.size() == text.size()) return choice;
  choice.knobs.set_all(fmt::format("strategy {}", name), text.substr(name.size() + 1));
  return choice;
}

std::vector<Choice> parse_strategies(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view piece : split(text, ',')) {
    if (piece.empty())
      fail("the list of strategies \"{}\" contains an empty name; write one comma between names",
           text);
    const bool continues = !items.empty() && piece.find('=') != std::string_view::npos &&
                           piece.find(':') == std::string_view::npos;
    if (continues)
      items.back().append(",").append(piece);
    else
      items.emplace_back(piece);
  }
  if (items.empty()) fail("the list of strategies is empty; name at least one, for example greedy");
  std::vector<Choice> choices;
  for (const std::string& item : items) choices.push_back(parse_strategy(item));
  return choices;
}

}  // namespace poise
