// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/options.h"

#include <limits>
#include <string_view>

#include "runtimes/balance/environment.h"

#include "poise/base/error.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"

namespace poise::objects {

namespace {

using Text = std::string_view;

// Limits for the option that sets the maximum size of an MPI message. A message must have room for
// its header, and MPI counts its bytes in an int.
constexpr std::size_t kMinPieceBytes = 64, kMaxPieceBytes = std::numeric_limits<int>::max();

void set_strategy(CollectionOptions& options, Text text, const Variable&) {
  options.strategy = parse_strategy(text).text();
  if (options.period == 0) options.is_automatic = true;
}

void set_period(CollectionOptions& options, Text text, const Variable& row) {
  options.is_automatic = text == "auto";
  options.period = options.is_automatic ? 0 : count_of(row, text);
}

// Variables are applied in this order. POISE_STRATEGY may set the period to `auto`. POISE_PERIOD
// comes later, so that a period that the user sets overrides `auto`.
constexpr balance::Setter<CollectionOptions> kSetters[] = {
    {"POISE_STRATEGY", set_strategy},
    {"POISE_PERIOD", set_period},
    {"POISE_TRACE", [](CollectionOptions& o, Text text, const Variable&) { o.trace = text; }},
    {"POISE_TIMELINE", [](CollectionOptions& o, Text text, const Variable&) { o.timeline = text; }},
    {"POISE_LOG", [](CollectionOptions& o, Text text, const Variable&) { o.log = text; }},
    {"POISE_BUDGET", [](CollectionOptions& o, Text text,
                        const Variable& row) { o.budget_s = duration_s_of(row, text); }},
    {"POISE_CLOCK",
     [](CollectionOptions& o, Text text, const Variable& row) {
       o.clock = static_cast<Clock>(choice_of(row, text));
     }},
    {"POISE_MODE", [](CollectionOptions& o, Text text,
                      const Variable& row) { o.mode = static_cast<Mode>(choice_of(row, text)); }},
    {"POISE_PLACES", [](CollectionOptions& o, Text text,
                        const Variable& row) { o.place_per_thread = choice_of(row, text) == 1; }},
    {"POISE_LEND", [](CollectionOptions& o, Text text,
                      const Variable& row) { o.lend = choice_of(row, text) == 1; }},
    {"POISE_RANKS_PER_HOST", [](CollectionOptions& o, Text text,
                                const Variable& row) { o.ranks_per_host = count_of(row, text); }},
};

}  // namespace

CollectionOptions with_environment(CollectionOptions options,
                                   const std::function<const char*(const char*)>& environment) {
  balance::apply<CollectionOptions>(options, kSetters, environment);
  if (options.lend && options.place_per_thread)
    fail(
        "POISE_LEND=1 needs POISE_PLACES=rank, because ranks, not threads, lend the work of "
        "objects to each other");
  if (const Strategy& strategy = *parse_strategy(options.strategy).strategy;
      options.mode == Mode::hierarchical && !strategy.needs.empty())
    fail(
        "POISE_MODE=hierarchical: strategy {} needs the {} of all objects, but no rank has "
        "them in this mode; use POISE_MODE=root or another strategy",
        strategy.name, strategy.needs);
  initial_placement(options.placement, 1, 1, 0);
  if (!(options.budget_s >= 0))
    fail("objects: budget_s is {}; it must be 0 (no limit) or more", options.budget_s);
  if (options.max_piece_bytes < kMinPieceBytes || options.max_piece_bytes > kMaxPieceBytes)
    fail("objects: max_piece_bytes is {}; it must be from {} to {}", options.max_piece_bytes,
         kMinPieceBytes, kMaxPieceBytes);
  return options;
}

}  // namespace poise::objects
