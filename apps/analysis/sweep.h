// SPDX-License-Identifier: BSD-3-Clause
// Replays a trace for several numbers of places, periods of balancing and seeds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/simulation.h"

namespace poise::apps {

/// Reads "5,10,20", "1..10" or a mixture, in the order given and without duplicates. Throws Error
/// naming the flag if a number is below `least`, is not a number, or there are more than 1,000.
std::vector<std::uint64_t> parse_counts(std::string_view flag, std::string_view text,
                                        std::uint64_t least);

/// Returns the periods to try for a number of steps: 1, and those of 2, 5, 10, 20, 50, ... that are
/// below this number.
std::vector<std::uint64_t> usual_periods(std::uint64_t steps);

/// Returns the machine text with as many groups on the first level as `places` needs. Throws Error
/// if the text does not begin with NAME:COUNT or the places do not fill whole groups.
std::string with_places(const std::string& machine_text, std::uint64_t places);

/// A strategy with a number of places and a period, and its results for each seed.
struct SweepRow {
  std::uint64_t places = 0, every = 0;  // every: 0 without balancing
  std::string strategy;
  std::string error;  // of the first seed with which it failed; the figures are then incomplete
  std::vector<double> total_s, balanced_s, balancing_s, migrations, idle_share, formula_s;
};

struct Sweep {
  std::vector<std::uint64_t> seeds;
  std::vector<SweepRow> rows;

  /// Returns the row with the shortest median total on this number of places. At least one row must
  /// have no error.
  const SweepRow& best(std::uint64_t places) const;
};

/// Adds the results of one seed to the rows of these places and this period.
void add_to(Sweep& sweep, const Simulation& simulation, std::uint64_t places);

double median(std::vector<double> values);

}  // namespace poise::apps
