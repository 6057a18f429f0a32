// The tools that place an instance: strategies of the table, and outside tools through files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/mapping/instances.h"

#include "poise/strategies/strategy.h"

namespace poise::mapping {

/// The strategy that is measured, and the same when it places all tasks afresh.
inline constexpr const char* kOurs = "poise";
inline constexpr const char* kOursFromScratch = "poise:from_scratch=1";

struct Answer {
  Placement placement;
  double decision_s = 0;
};

/// All strategies of the table that use messages, without ours and the oracles, and two variants of
/// Scotch: a list for parse_strategies.
std::string usual_peers();

/// Whether a tool is the work of others: not a row of the table, or a row that calls a library.
bool is_outside(const std::string& tool);

/// Nothing where the tool cannot answer: built without its library, or not for this machine.
std::optional<Answer> answer_of(const Choice& choice, const Instance& instance);

/// The answers of outside tools: INSTANCE@TOOL.place and, with its seconds, INSTANCE@TOOL.seconds.
/// None where the folder is "".
std::map<std::string, Answer> answers_in(const std::string& folder, const Instance& instance);

}  // namespace poise::mapping
