// SPDX-License-Identifier: BSD-3-Clause
// The tuning constants that only one strategy uses and that are not options: value, unit and
// effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "poise/base/knobs.h"

namespace poise {

// One line per constant: type, name, value, unit, effect. `poise strategies --tuning` prints the
// table. The parameters of `poise` that experiments may change are in search/tuning.h.
//
// clang-format off
#define POISE_STRATEGIES_TUNING(X) \
  /* poise: measured computing time of the parts of a decision, per task and per direction of each pair of tasks that */ \
  /* exchange messages. A scan is the time to examine one task or message (search/scan_budget.h). */ \
  X(double,        prepare_scans,         1.5,      "scans per entry", "poise: time to compute once what all parts need") \
  X(double,        build_scans,           1.5,      "scans per entry", "poise: time to start a local search") \
  X(double,        way_back_scans,        2,        "scans per entry", "poise: time to undo the moves of a candidate step by step, back to the current placement") \
  X(double,        new_placement_scans,   20,       "scans per entry", "poise: time for a partition without refinement") \
  X(double,        refining_scans,        11,       "scans per entry", "poise: time for a pass that refines a partition") \
  X(double,        schedule_scans,        2,        "scans per entry", "poise: time for a list schedule") \
  X(double,        relief_scans,          5,        "scans per entry", "poise: time to let overloaded places give a few tasks away, without a search") \
  X(double,        consecutive_scans,     1,        "scans per entry", "poise: time for a placement that gives each place consecutive tasks") \
  X(double,        trial_scans,           0.5,      "scans per entry", "poise: time to find out whether a move can be undone") \
  X(double,        min_search_scans,      2,        "scans per entry", "poise: minimum budget with which a local search is started") \
  /* refine, refine_comm, anneal. */ \
  X(double,        refine_precision,      1.0/512,  "of the average",  "refine: precision to which the lowest threshold is searched") \
  X(double,        refine_comm_precision, 1.0/128,  "of the average",  "refine_comm: precision to which the lowest threshold is searched") \
  X(std::size_t,   max_partner_places,    8,        "places",          "refine_comm: number of places of its partners to which a task may move: those with which it has most traffic") \
  X(std::uint32_t, max_place_visits,      8,        "times",           "refine_comm: an attempt fails if it has to relieve a place more often, because messages raise the place above the threshold again and again") \
  X(double,        first_temperature,     0.3,      "of the sum",      "anneal: temperature of the first trial") \
  X(double,        last_temperature,      3e-5,     "of the sum",      "anneal: temperature of the last trial") \
  /* treematch. */ \
  X(double,        max_listed,            30000,    "ways",            "treematch: maximum number of ways to divide elements into groups, or of groups, that are listed") \
  X(int,           exchange_passes,       6,        "passes",          "treematch: number of passes that exchange elements between groups") \
  X(std::uint32_t, attempts_of_tasks,     8,        "attempts",        "treematch: attempts per bisection of the set of all tasks; there are few such bisections, so more effort pays") \
  X(std::uint32_t, attempts_of_nodes,     12,       "attempts",        "treematch: attempts per bisection of the groups of tasks that are mapped to nodes") \
  X(std::uint32_t, max_nodes_to_halve,    4096,     "nodes",           "treematch: maximum number of nodes of a network that is halved recursively") \
  X(std::uint32_t, max_nodes_in_table,    2048,     "nodes",           "treematch: maximum number of nodes whose distances are kept in a table") \
  X(double,        hopeless,              1.5,      "times the best",  "treematch: swaps do not try to improve a mapping that costs more than this multiple of the best") \
  X(std::uint32_t, max_for_near_slots,    4096,     "nodes",           "treematch: maximum number of nodes of a network in which near slots are searched; this needs all distances") \
  X(std::size_t,   near_slots,            12,       "slots",           "treematch: number of slots near each slot that swaps try") \
  X(int,           swap_passes,           8,        "passes",          "treematch: maximum number of passes of swaps") \
  X(std::size_t,   max_distances,         30000000, "distances",       "treematch: maximum number of distances computed in all passes; in complete graphs swaps gain little for their cost") \
  X(std::size_t,   slots_tried,           32,       "slots",           "treematch: number of slots whose distances are summed to find the centre of a region")
// clang-format on

struct StrategiesTuning {
#define POISE_FIELD(type, name, value, unit, why) type name = value;
  POISE_STRATEGIES_TUNING(POISE_FIELD)
#undef POISE_FIELD

  /// Minimum budget, in scans per entry, with which the strategy `poise` starts a local search.
  constexpr double descent_scans() const { return build_scans + way_back_scans + min_search_scans; }
};

inline constexpr StrategiesTuning kStrategiesTuning{};

static_assert(kStrategiesTuning.last_temperature < kStrategiesTuning.first_temperature);
static_assert(kStrategiesTuning.hopeless > 1);

/// The constants of StrategiesTuning as rows of the printed table. They cannot be changed, so the
/// range of each contains only its value.
inline constexpr auto kStrategiesNumbers = std::to_array<Knob>({
#define POISE_KNOB(type, name, value, unit, why) Knob{#name, value, value, value, why, {}, unit},
    POISE_STRATEGIES_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

}  // namespace poise
