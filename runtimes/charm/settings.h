// What a balancer of Charm++ is asked for by its name, the environment and +PoiseLB.
#pragma once

#include <functional>
#include <string>

#include "poise/strategies/strategy.h"

namespace poise::charm {

struct Settings {
  Choice choice;
  std::string trace = {};    // POISE_TRACE: record a trace here, a phase per decision
  std::string log = {};      // POISE_LOG: a line per decision to this file; -: to stderr
  std::string machine = {};  // POISE_MACHINE: what each host is, instead of looking
  double budget_s = 0;       // POISE_BUDGET: what a decision may take (2s); 0: anything
};

/// A strategy's row for a balancer's name.
struct Named {
  std::string name;
  const Strategy* strategy;
  bool is_free;  // any strategy that is asked for, this one by default
};

/// `asked` (of +PoiseLB), else POISE_STRATEGY, is the strategy of a balancer that is free, and
/// gives the knobs of one that has this strategy; others start from their initial knobs. Throws
/// Error naming the variable and what would work.
Settings settings_of(const Named& named, const std::string& asked,
                     const std::function<const char*(const char*)>& environment);

}  // namespace poise::charm
