// SPDX-License-Identifier: BSD-3-Clause
// The total time against what is moved, from a placement back to the current one: all of its moves,
// some, or none.
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
  double total_s(std::uint64_t every) const {
    return static_cast<double>(every) * iteration_s + migration_s;
  }
};

/// From all moves to none, without points that equal the one before. O(tasks + messages) each.
std::vector<CurvePoint> curve_of(const Problem& problem, const Placement& placement);

/// A heading with the strategy's name and a table; the shortest total of `every` phases is marked.
std::string curve_text(const std::vector<CurvePoint>& curve, const std::string& strategy,
                       std::uint64_t every, bool has_sizes);

/// An array of objects: iteration_s, migration_s, total_s, migrations, migrated_share and
/// migrated_bytes. What sizes decide is null if they are unknown.
nlohmann::ordered_json json_of(const std::vector<CurvePoint>& curve, std::uint64_t every,
                               bool has_sizes);

}  // namespace poise::apps
