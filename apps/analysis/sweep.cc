// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/sweep.h"

#include <algorithm>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/text.h"

namespace poise::apps {

namespace {

constexpr std::size_t kMaxCounts = 1000;

std::uint64_t count_of(std::string_view flag, std::string_view text, std::uint64_t least) {
  const auto count = parse_unsigned(text);
  if (!count || *count < least)
    fail(
        "{}: \"{}\" is not a whole number of at least {}; give numbers such as 5,10,20 or a range "
        "such as 1..10",
        flag, text, least);
  return *count;
}

/// Returns the row that has the same strategy, number of places and balancing period as `wanted`.
/// If there is none, adds `wanted` and returns it.
SweepRow& row_of(Sweep& sweep, const SweepRow& wanted) {
  for (SweepRow& row : sweep.rows)
    if (row.places == wanted.places && row.every == wanted.every && row.strategy == wanted.strategy)
      return row;
  sweep.rows.push_back(wanted);
  return sweep.rows.back();
}

}  // namespace

std::vector<std::uint64_t> parse_counts(std::string_view flag, std::string_view text,
                                        std::uint64_t least) {
  std::vector<std::uint64_t> counts;
  if (text.empty()) count_of(flag, text, least);
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const std::uint64_t from = count_of(flag, part.substr(0, dots), least);
    const std::uint64_t to =
        dots == std::string_view::npos ? from : count_of(flag, part.substr(dots + 2), least);
    if (to < from) fail("{}: {} is empty; write {}..{}", flag, part, to, from);
    if (to - from >= kMaxCounts)
      fail("{}: the range {} has more than {} numbers; give a shorter range", flag, part,
           kMaxCounts);
    // The loop does not test from + i <= to, because that is always true if `to` is the largest
    // 64-bit number.
    for (std::uint64_t i = 0; i <= to - from; ++i)
      if (std::find(counts.begin(), counts.end(), from + i) == counts.end())
        counts.push_back(from + i);
    if (counts.size() > kMaxCounts) fail("{}: more than {} numbers", flag, kMaxCounts);
  }
  return counts;
}

std::vector<std::uint64_t> usual_periods(std::uint64_t steps) {
  std::vector<std::uint64_t> periods;
  for (std::uint64_t decade = 1; decade < steps; decade *= 10)
    for (const std::uint64_t digit : {1, 2, 5})
      if (decade * digit < steps) periods.push_back(decade * digit);
  if (periods.empty()) periods.push_back(1);
  return periods;
}

std::string with_places(const std::string& machine_text, std::uint64_t places) {
  const std::size_t end = std::min(machine_text.find(' '), machine_text.size());
  const std::string_view first = std::string_view(machine_text).substr(0, end);
  const std::size_t colon = first.find(':');
  const auto count =
      colon == std::string_view::npos ? std::nullopt : parse_unsigned(first.substr(colon + 1));
  if (!count || *count == 0)
    fail(
        "--places needs a machine text that begins with a level, such as \"node:4 core:8\", not "
        "\"{}\"",
        machine_text);
  const std::uint64_t group = machine_from_text(machine_text).num_places() / *count;
  if (places % group != 0)
    fail("--places {} is not a multiple of {}, the number of places in each {} of machine \"{}\"",
         places, group, first.substr(0, colon), machine_text);
  return fmt::format("{}:{}{}", first.substr(0, colon), places / group,
                     std::string_view(machine_text).substr(end));
}

double median(std::vector<double> values) {
  POISE_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void add_to(Sweep& sweep, const Simulation& simulation, std::uint64_t places) {
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const Simulation::Row& result = simulation.rows[r];
    const std::uint64_t every = r == 0 ? 0 : simulation.plan.every;
    SweepRow& row = row_of(sweep, {places, every, result.strategy, {}, {}, {}, {}, {}, {}, {}});
    if (!result.error.empty() && row.error.empty()) row.error = result.error;
    if (!row.error.empty()) continue;
    // The replay without balancing is repeated for every period, although the period has no effect
    // on it. So its result is added only once per seed.
    if (r == 0 && row.total_s.size() == sweep.seeds.size()) continue;
    const Replay& replay = result.replay;
    row.total_s.push_back(replay.total_s);
    row.balanced_s.push_back(replay.balanced_s);
    row.balancing_s.push_back(replay.decision_s + replay.collection_s + replay.migration_s);
    row.migrations.push_back(replay.migrations);
    if (!simulation.plan.events) continue;
    row.idle_share.push_back(replay.idle_share);
    row.formula_s.push_back(replay.formula_s);
  }
}

const SweepRow& Sweep::best(std::uint64_t places) const {
  const SweepRow* best = nullptr;
  for (const SweepRow& row : rows) {
    if (row.places != places || !row.error.empty()) continue;
    if (best == nullptr || median(row.total_s) < median(best->total_s)) best = &row;
  }
  POISE_CHECK(best != nullptr);
  return *best;
}

}  // namespace poise::apps
