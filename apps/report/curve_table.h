// SPDX-License-Identifier: BSD-3-Clause
// A curve of the total time against the number of moved tasks. It leads from a strategy's placement
// back to the current placement, where no task moves.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "poise/placement/problem.h"

namespace poise::apps {

/// A point of the curve; times in seconds.
struct CurvePoint {
  double iteration_s = 0, migration_s = 0;
  std::uint64_t tasks = 0, bytes = 0;  // moved
  double share = 0;                    // of all tasks
  double total_s(std::uint64_t every) const { return every * iteration_s + migration_s; }
};

/// Returns the points of the curve. At the first point, all tasks move to their places in
/// `placement`, except those that can stay without making the iteration longer. At each further
/// point fewer tasks move, and at the last point none. O(tasks + messages) for each point.
std::vector<CurvePoint> curve_of(const Problem& problem, const Placement& placement);

/// Returns a heading with the strategy's name, and a table with one line per point. Total times in
/// the table cover the migrations and the `every` iterations until the next decision, but not the
/// decision itself. The line with the shortest total time is marked.
std::string curve_text(const std::vector<CurvePoint>& curve, const std::string& strategy,
                       std::uint64_t every, bool has_sizes);

/// Returns the same heading and table as HTML.
std::string curve_html(const std::vector<CurvePoint>& curve, const std::string& strategy,
                       std::uint64_t every, bool has_sizes);

/// Returns an array of objects with iteration_s, migration_s, total_s, migrations, migrated_share
/// and migrated_bytes. Values that depend on unknown sizes are null.
nlohmann::ordered_json json_of(const std::vector<CurvePoint>& curve, std::uint64_t every,
                               bool has_sizes);

}  // namespace poise::apps
