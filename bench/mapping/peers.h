// SPDX-License-Identifier: BSD-3-Clause
// The tools that place the tasks of an instance: strategies of Poise, and outside tools, which read
// and write files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/mapping/instances.h"

#include "poise/strategies/strategy.h"

namespace poise::mapping {

/// The strategy that is measured, and the same strategy when it places all tasks anew, without
/// regard to the current placement.
inline constexpr const char* kOurs = "poise";
inline constexpr const char* kOursFromScratch = "poise:from_scratch=1";

struct Answer {
  Placement placement;
  double decision_s = 0;
};

/// Returns the tools with which `poise` is compared by default, as a list for parse_strategies: all
/// other strategies that use messages, and two variants of Scotch. Strategies that are too slow for
/// a balancing step (is_oracle) are left out.
std::string usual_peers();

/// True if the mapping algorithm was not written for Poise: the tool is not a strategy of Poise, or
/// it is a strategy that calls an outside library.
bool is_outside(const std::string& tool);

/// Returns the tool's placement. Returns nothing if Poise was built without the tool's library, or
/// if the tool cannot handle this machine.
std::optional<Answer> answer_of(const Choice& choice, const Instance& instance);

/// Reads the answers of outside tools: INSTANCE@TOOL.place has the placement, INSTANCE@TOOL.seconds
/// the CPU seconds of the decision. Returns no answers if the folder is "".
std::map<std::string, Answer> answers_in(const std::string& folder, const Instance& instance);

}  // namespace poise::mapping
