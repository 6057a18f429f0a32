// SPDX-License-Identifier: BSD-3-Clause
// Judges the placements of all tools on one instance, and summarises the results of all instances.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/mapping/peers.h"

#include "poise/placement/metrics.h"

namespace poise::mapping {

struct Row {
  std::string tool;
  Metrics metrics;
  double decision_s = 0;
  bool is_outside = false;  // true: the tool was not written for Poise
};

/// The results on one instance. The first row is that of the strategy `poise`; the other rows are
/// its peers, the tools with which it is compared.
struct Outcome {
  std::string name;
  std::uint32_t num_places;
  bool weighs_messages;
  TaskId num_tasks;
  double bound_s = 0, limit_s = 0;
  std::vector<Row> rows;
  std::optional<Row> from_scratch;  // placement of `poise` with all tasks placed from scratch

  const Row* row_of(std::string_view tool) const {
    for (const Row& row : rows)
      if (row.tool == tool) return &row;
    return nullptr;
  }
  const Row& ours() const { return rows.front(); }
  /// Returns the peer with the shortest iteration, or null if there is no peer. A peer is a tool
  /// with which `poise` is compared; `only_outside` admits only tools not written for Poise.
  const Row* best_peer(bool only_outside) const {
    const Row* best = nullptr;
    for (const Row& row : std::span(rows).subspan(1))
      if ((row.is_outside || !only_outside) &&
          (best == nullptr || row.metrics.iteration_s < best->metrics.iteration_s))
        best = &row;
    return best;
  }
  /// Considers the peers whose iteration takes at most 5 % longer than that of `poise`. Returns the
  /// one that decides fastest, or null if there is none.
  const Row* fastest_equal(bool only_outside) const {
    const Row* fastest = nullptr;
    for (const Row& row : std::span(rows).subspan(1))
      if ((row.is_outside || !only_outside) &&
          row.metrics.iteration_s <= 1.05 * ours().metrics.iteration_s &&
          (fastest == nullptr || row.decision_s < fastest->decision_s))
        fastest = &row;
    return fastest;
  }
};

/// The tools whose placements are compared on each instance.
struct Contest {
  std::string peers;        // names of strategies, as parse_strategies() takes them
  std::string limit;        // a slow strategy that finds short iterations, such as anneal; or empty
  std::string import_from;  // a folder with placements by outside tools; or empty
};

/// Lets all tools decide, and judges their placements. Before a placement is judged, tasks that are
/// not movable are put back on their current places, because outside tools may not know that these
/// tasks must stay.
Outcome outcome_of(const Instance& instance, const Contest& contest);

/// Prints one line about the instance to stdout.
void print(const Outcome& outcome);

/// Returns the results as JSON: a summary with the limits for the strategy `poise`, and one row per
/// instance. Also prints the limits, and whether `poise` keeps them.
nlohmann::json report_of(const std::vector<Outcome>& outcomes);

}  // namespace poise::mapping
