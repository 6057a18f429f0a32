// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/contender.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "apps/analysis/plugin_strategy.h"
#include "apps/analysis/program_strategy.h"

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/placement/answer.h"
#include "poise/placement/capacity.h"
#include "poise/trace/placement_file.h"

namespace poise::apps {

namespace {

constexpr std::string_view kExec = "exec:", kPlugin = "plugin:";

/// Appends to `contenders` the strategies of Poise that `list` names. Then clears `list`.
void take_names(std::string& list, std::vector<Contender>& contenders) {
  if (list.empty()) return;
  for (const Choice& choice : parse_strategies(list)) contenders.push_back(contender_of(choice));
  list.clear();
}

/// Makes a user's strategy respect the capacities of places: if the strategy's placement exceeds a
/// capacity, moves as few tasks as necessary to other places. For Poise's own strategies,
/// Choice::rebalance() does this.
Contender kept_within_capacity(Contender contender) {
  return {std::move(contender.name),
          [decide = std::move(contender.decide)](const Problem& problem) {
            const Placement placement = decide(problem);
            check_answer(problem, placement);
            return within_capacity(problem, placement);
          }};
}

}  // namespace

double limit_s(std::string_view text) {
  const auto seconds = parse_duration_s(text);
  constexpr double kMaxS = 1e6;
  if (!seconds || *seconds <= 0 || *seconds > kMaxS)
    fail("--exec-limit takes a time such as 60s, at most 1000000s, not \"{}\"", text);
  return *seconds;
}

Contender contender_of(const Choice& choice) {
  Contender contender{choice.text(),
                      [choice](const Problem& problem) { return choice.rebalance(problem); }};
  constexpr std::string_view kLimit = "memory_bytes";
  if (std::ranges::find(choice.strategy->knobs, kLimit, &Knob::name) !=
      choice.strategy->knobs.end())
    contender.memory_bytes = static_cast<std::uint64_t>(choice.knobs[kLimit]);
  return contender;
}

std::vector<Contender> parse_contenders(std::string_view list, double limit_s) {
  std::vector<Contender> contenders;
  std::string names;  // strategies of Poise since the last exec: or plugin: item
  if (list.empty()) parse_strategies(list);  // throws an Error that lists the known strategies
  for (const std::string_view piece : split(list, ',')) {
    const bool is_program = piece.starts_with(kExec), is_plugin = piece.starts_with(kPlugin);
    if (!is_program && !is_plugin) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", piece);
      if (piece.empty())
        fail("the list of strategies \"{}\" contains an empty name; write one comma between names",
             list);
      continue;
    }
    take_names(names, contenders);
    if (is_plugin) {
      contenders.push_back(kept_within_capacity(
          {std::string(piece), plugin_strategy(std::string(piece.substr(kPlugin.size())))}));
      continue;
    }
    const std::string command(piece.substr(kExec.size()));
    if (command.empty()) fail("exec: a command is missing; example: exec:./mine.py");
    contenders.push_back(
        kept_within_capacity({std::string(piece), [command, limit_s](const Problem& problem) {
                                return placement_of_program(command, problem, limit_s);
                              }}));
  }
  take_names(names, contenders);
  return contenders;
}

Contender contender_named(std::string_view text, double limit_s) {
  if (!text.starts_with(kExec) && !text.starts_with(kPlugin))
    return contender_of(parse_strategy(text));
  std::vector<Contender> contenders = parse_contenders(text, limit_s);
  if (contenders.size() != 1)
    fail("\"{}\" is a list of strategies, but only one strategy can be given here", text);
  return std::move(contenders.front());
}

std::vector<std::string> strategy_files(std::string_view list) {
  std::vector<std::string> files;
  for (const std::string_view item : split(list, ',')) {
    if (item.starts_with(kPlugin)) files.emplace_back(item.substr(kPlugin.size()));
    if (!item.starts_with(kExec)) continue;
    for (const std::string_view word : split_at_blanks(item.substr(kExec.size())))
      files.emplace_back(word);
  }
  return files;
}

Contender contender_of_file(const std::string& name_and_file) {
  const std::size_t equals = name_and_file.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == name_and_file.size())
    fail("--also takes NAME=FILE, not \"{}\"", name_and_file);
  Placement placement = read_placement(name_and_file.substr(equals + 1));
  return {name_and_file.substr(0, equals),
          [placement = std::move(placement)](const Problem&) { return placement; }};
}

}  // namespace poise::apps
