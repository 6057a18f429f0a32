// SPDX-License-Identifier: BSD-3-Clause
// Replays a trace for several numbers of places, periods of balancing and seeds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Reads numbers such as "5,10,20", "1..10" or a mixture of both. Returns them in the order of the
/// text, without duplicates. Throws Error, which names the flag, if an item is not a whole number
/// of at least `least`, or if there are more than 1,000 numbers.
std::vector<std::uint64_t> parse_counts(std::string_view flag, std::string_view text,
                                        std::uint64_t least);

/// Returns the balancing periods, in steps, that a sweep tries: 1, and the numbers among 2, 5, 10,
/// 20, 50, ... that are less than `steps`.
std::vector<std::uint64_t> usual_periods(std::uint64_t steps);

/// Changes the first COUNT of a machine text so that the machine has `places` places: for 64
/// places, "node:4 core:8" becomes "node:8 core:8". Throws Error if the text does not begin with
/// NAME:COUNT, or if no COUNT gives exactly `places` places.
std::string with_places(const std::string& machine_text, std::uint64_t places);

/// A strategy, a number of places and a balancing period, with the results for each seed.
struct SweepRow {
  /// `places` is the number of places. `every` is the number of steps between two decisions, or 0
  /// for a replay without balancing.
  std::uint64_t places = 0, every = 0;
  std::string strategy;
  std::string error;  // error of the first seed with which the strategy failed; the vectors below
                      // then have results of earlier seeds only
  std::vector<double> total_s, balanced_s, balancing_s, migrations;
  std::vector<double> idle_share, formula_s;  // empty without the event engine
};

struct Sweep {
  std::vector<std::uint64_t> seeds;
  std::vector<SweepRow> rows;

  /// Returns the row with the shortest total time (median over the seeds) among the rows with this
  /// number of places. At least one of these rows must be without an error.
  const SweepRow& best(std::uint64_t places) const;
};

/// Adds the results of a replay on `places` places with one seed. Each result is added to the row
/// with the same strategy, number of places and balancing period.
void add_to(Sweep& sweep, const Simulation& simulation, std::uint64_t places);

double median(std::vector<double> values);

}  // namespace poise::apps
