#include "runtimes/objects/options.h"

#include <iterator>
#include <limits>

#include "runtimes/balance/environment.h"

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"

namespace poise::objects {

namespace {

using Text = std::string_view;

constexpr std::string_view kClocks[] = {"cpu", "wall"};
constexpr std::string_view kModes[] = {"auto", "root", "replicated", "hierarchical"};
constexpr std::string_view kAnswers[] = {"0", "1"};
constexpr std::string_view kPlaces[] = {"rank", "thread"};
constexpr std::size_t kMinPieceBytes = 64;  // a message header must fit

std::size_t choice(Text text, std::string_view kind, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return i;
  fail("{}", unknown_name(kind, text, names));
}

std::uint32_t count(Text text, const char* what) {
  const auto number = parse_unsigned(text);
  if (!number || *number > std::numeric_limits<std::int32_t>::max())
    fail("\"{}\" is not {}", text, what);
  return static_cast<std::uint32_t>(*number);
}

void set_strategy(Options& options, Text text) {
  options.strategy = parse_strategy(text).text();
  if (options.period == 0) options.is_automatic = true;
}

void set_period(Options& options, Text text) {
  options.is_automatic = text == "auto";
  options.period = options.is_automatic ? 0 : count(text, "a number of steps, 0 (never) or auto");
}

// Variables are applied in this order: a period overrides what a strategy implies.
constexpr balance::Variable<Options> kVariables[] = {
    {"POISE_STRATEGY", set_strategy},
    {"POISE_PERIOD", set_period},
    {"POISE_TRACE", [](Options& options, Text text) { options.trace = text; }},
    {"POISE_TIMELINE", [](Options& options, Text text) { options.timeline = text; }},
    {"POISE_LOG", [](Options& options, Text text) { options.log = text; }},
    {"POISE_BUDGET",
     [](Options& options, Text text) { options.budget_s = balance::budget_s_of(text); }},
    {"POISE_CLOCK",
     [](Options& options, Text text) {
       options.clock = static_cast<Clock>(choice(text, "clock", kClocks));
     }},
    {"POISE_MODE",
     [](Options& options, Text text) {
       options.mode = static_cast<Mode>(choice(text, "mode", kModes));
     }},
    {"POISE_PLACES",
     [](Options& options, Text text) {
       options.place_per_thread = choice(text, "places", kPlaces) == 1;
     }},
    {"POISE_LEND",
     [](Options& options, Text text) { options.lend = choice(text, "answer", kAnswers) == 1; }},
    {"POISE_RANKS_PER_HOST",
     [](Options& options, Text text) {
       options.ranks_per_host = count(text, "a number of ranks");
     }},
};

}  // namespace

Options with_environment(Options options,
                         const std::function<const char*(const char*)>& environment) {
  balance::apply<Options>(options, kVariables, environment);
  if (options.lend && options.place_per_thread)
    fail("POISE_LEND=1 needs POISE_PLACES=rank: steps are offloaded between ranks, not threads");
  parse_strategy(options.strategy);
  initial_placement(options.placement, 1, 1, 0);
  if (options.max_piece_bytes < kMinPieceBytes)
    fail("objects: max_piece_bytes is {}; it must be at least {}", options.max_piece_bytes,
         kMinPieceBytes);
  return options;
}

}  // namespace poise::objects
