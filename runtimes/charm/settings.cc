// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/settings.h"

#include "runtimes/balance/environment.h"

#include "poise/machine/find.h"

namespace poise::charm {

namespace {

using Text = std::string_view;

struct Texts {
  std::string strategy, trace, log, machine;
  double budget_s = 0;
};

constexpr balance::Setter<Texts> kSetters[] = {
    {"POISE_STRATEGY", [](Texts& texts, Text text,
                          const Variable&) { texts.strategy = parse_strategy(text).text(); }},
    {"POISE_TRACE", [](Texts& texts, Text text, const Variable&) { texts.trace = text; }},
    {"POISE_LOG", [](Texts& texts, Text text, const Variable&) { texts.log = text; }},
    {"POISE_MACHINE",
     [](Texts& texts, Text text, const Variable&) {
       texts.machine = text;
       find_machine(text);
     }},
    {"POISE_BUDGET", [](Texts& texts, Text text,
                        const Variable& row) { texts.budget_s = duration_s_of(row, text); }},
};

}  // namespace

Settings settings_of(const Named& named, const std::string& asked,
                     const std::function<const char*(const char*)>& environment) {
  Texts texts;
  balance::apply<Texts>(texts, kSetters, environment);
  try {
    if (!asked.empty()) texts.strategy = parse_strategy(asked).text();
  } catch (const Error& error) {
    fail("+PoiseLB: {}", error.what());
  }
  Settings settings{{named.strategy, Knobs(named.strategy->knobs)},
                    texts.trace,
                    texts.log,
                    texts.machine,
                    texts.budget_s};
  if (texts.strategy.empty()) return settings;
  const Choice choice = parse_strategy(texts.strategy);
  if (named.is_free || choice.strategy == named.strategy) settings.choice = choice;
  return settings;
}

}  // namespace poise::charm
