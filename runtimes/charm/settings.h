// SPDX-License-Identifier: BSD-3-Clause
// The settings of a Charm++ balancer, from its name, the environment and +PoiseLB.
#pragma once

#include <functional>
#include <string>

#include "poise/strategies/strategy.h"

namespace poise::charm {

struct Settings {
  Choice choice;
  std::string trace = {};    // POISE_TRACE: file for a trace with a phase per decision
  std::string log = {};      // POISE_LOG: file for a line per decision; -: stderr
  std::string machine = {};  // POISE_MACHINE: description of each host; empty: discover it
  double budget_s = 0;       // POISE_BUDGET: time limit of a decision, such as 2s; 0: none
};

/// The strategy that a balancer's name selects.
struct Named {
  std::string name;
  const Strategy* strategy;
  bool is_free;  // true: `strategy` is the default, but settings may select another
};

/// Returns the settings of a balancer. The user chooses a strategy and its knobs by `asked`, the
/// argument of +PoiseLB, or, if `asked` is empty, by POISE_STRATEGY. If `named.is_free` is true,
/// the balancer uses the chosen strategy and knobs. Otherwise it keeps its own strategy; it uses
/// the chosen knobs if they belong to this strategy, and the default knobs if not. Throws Error
/// naming the variable and the valid values.
Settings settings_of(const Named& named, const std::string& asked,
                     const std::function<const char*(const char*)>& environment);

}  // namespace poise::charm
