// SPDX-License-Identifier: BSD-3-Clause
// The tuning constants of the partitioner and of rank_map.h, each with its value, unit and effect.
// No option of a strategy changes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "poise/base/knobs.h"

namespace poise {

// One line per constant: type, name, value, unit, effect. `poise strategies --tuning` prints the
// table. The tuning parameters of the strategy `poise`, which users can change in experiments, are
// in search/tuning.h.
//
// clang-format off
#define POISE_PARTITION_TUNING(X) \
  /* A partition into parts (partition.h, parts.h). */ \
  X(std::uint32_t, max_ways,              64,      "parts",               "maximum number of parts that one stage makes; more parts take several stages") \
  X(std::uint32_t, coarse_per_part,       30,      "vertices per part",   "coarsening ends when this many vertices per part remain") \
  X(double,        max_weight_of_vertex,  1.5,     "of the mean",         "maximum weight of a coarse vertex, relative to the mean weight when coarsening ends") \
  X(std::uint32_t, min_coarse,            96,      "vertices",            "minimum size of the coarsest graph, if there are few parts") \
  X(double,        slack_of_bisection,    0.4,     "of the tolerance",    "part of the tolerance that one bisection may use, because several bisections share it") \
  X(double,        max_kept_of_level,     0.9,     "of vertices",         "coarsening ends if more of the vertices would remain after a step") \
  X(int,           greedy_passes,         4,       "passes",              "number of passes that move every vertex whose move gains") \
  X(int,           climbs_of_parts,       2,       "climbs",              "number of hill climbs after the greedy passes") \
  X(std::size_t,   climb_patience,        50,      "moves",               "a climb ends after this many moves without a new best, plus one per climb_patience_share vertices") \
  X(std::size_t,   climb_patience_share,  50,      "vertices per move",   "see climb_patience: one more move per this many vertices that can move when the climb starts") \
  X(std::uint32_t, max_degree,            256,     "neighbours",          "after a move, the gains of neighbours with a higher degree are not updated: one move changes them little, and updating them would take quadratic time") \
  X(std::uint8_t,  max_reliefs,           2,       "times",               "maximum number of times that a vertex leaves overweight parts; otherwise two parts could exchange it forever") \
  /* One rank per slot (rank_map.h, rank_sections.h, rank_distances.h). */ \
  X(unsigned,      bisection_attempts,    4,       "seeds",               "number of seeds from which each bisection of the ranks is grown") \
  X(int,           cuts_of_ranks,         16,      "cuts",                "number of ways in which all ranks are cut; swaps improve the best cuts") \
  X(double,        max_starts,            4,       "cuts",                "maximum number of cuts of a small graph that swaps improve, as far as the scans suffice") \
  X(double,        work_of_cuts,          2.5e7,   "edge ends",           "all cuts together visit at most this many (about half a second), so larger graphs are cut in fewer ways") \
  X(double,        vertex_of_cut,         46,      "edge ends",           "in each halving of a cut, a vertex takes as long as this many ends of edges") \
  X(std::uint32_t, max_ranks_to_try_all,  9,       "ranks",               "maximum number of ranks for which all maps are tried") \
  X(std::size_t,   max_visits,            4000000, "partial maps",        "maximum number of partial maps that are tried: about half a second") \
  X(std::size_t,   max_slots_to_try_all,  512,     "slots",               "maximum number of slots of a machine; on a larger one, maps of a few ranks are not tried on all nodes") \
  X(std::size_t,   region_samples,        4,       "slots",               "number of slots that represent a region when distances are estimated") \
  X(std::uint32_t, max_tabulated_nodes,   1024,    "nodes",               "maximum number of nodes whose distances are kept in a table") \
  X(std::uint32_t, max_tabulated_places,  512,     "places of a node",    "maximum number of places of a node whose distances are kept in a table") \
  /* Swaps of ranks (swap_search.h): annealing, then descent. */ \
  X(int,           descent_passes,        20,      "passes",              "maximum number of passes of a descent") \
  X(double,        descent_scans,         200,     "scans per edge",      "a descent ends after this many scans per edge") \
  X(std::size_t,   descent_degrees,       2048,    "neighbours",          "a vertex with degree d tries this number / d partners, because a trial takes longer for a vertex of high degree") \
  X(std::size_t,   min_partners,          4,       "partners",            "minimum number of partners that a vertex tries") \
  X(std::size_t,   max_partners,          32,      "partners",            "maximum number of partners that a vertex tries") \
  X(std::uint32_t, slots_of_group,        8,       "slots",               "number of slots around each partner that a descent tries") \
  X(double,        hot_start,             0.6,     "of a mean swap",      "first start temperature of annealing, in multiples of the mean amount by which a swap changes the traffic; see hot_scans") \
  X(double,        warm_start,            0.15,    "of a mean swap",      "second start temperature") \
  X(double,        mild_start,            0.04,    "of a mean swap",      "third start temperature, at which the map is improved without being destroyed") \
  X(int,           cooling_steps,         200,     "steps",               "number of steps in which annealing lowers its temperature") \
  X(double,        end_temperature,       0.02,    "of the start",        "temperature at which annealing ends") \
  X(double,        hot_scans,             10000,   "scans per edge",      "annealing starts at temperature t if the budget is at least t times this: a hot start destroys the first map, which pays only if there is time to find a better one") \
  X(int,           max_draws,             4,       "draws",               "maximum number of random draws to find a vertex whose move could lower the traffic") \
  X(int,           temperature_samples,   2000,    "swaps",               "number of trial swaps from which the start temperature is computed") \
  X(std::size_t,   max_costs,             4194304, "numbers",             "maximum size of the table with the costs of all ranks in all groups of cores (32 MiB)") \
  X(double,        scans_of_trial,        8,       "scans",               "with the table of costs, choosing a group to swap with takes as long as this many scans") \
  X(double,        scans_of_lookup,       0.4,     "scans",               "time to look up the cost of a swap in the table of costs") \
  X(double,        scans_of_update,       0.125,   "scans",               "time to update an entry of the table of costs") \
  X(std::uint64_t, anywhere_one_in,       64,      "candidates",          "one of this many candidates is drawn from all slots; the others are near the partner that the vertex should approach")
// clang-format on

struct PartitionTuning {
#define POISE_FIELD(type, name, value, unit, why) type name = value;
  POISE_PARTITION_TUNING(POISE_FIELD)
#undef POISE_FIELD
};

inline constexpr PartitionTuning kPartitionTuning{};

static_assert(kPartitionTuning.min_partners < kPartitionTuning.max_partners);
static_assert(kPartitionTuning.slack_of_bisection < 1 && kPartitionTuning.max_kept_of_level < 1);
static_assert(kPartitionTuning.end_temperature < 1);
static_assert(kPartitionTuning.mild_start < kPartitionTuning.warm_start &&
              kPartitionTuning.warm_start < kPartitionTuning.hot_start);

/// The constants of PartitionTuning as rows of the printed table. They cannot be changed, so the
/// range of each contains only its value.
inline constexpr auto kPartitionNumbers = std::to_array<Knob>({
#define POISE_KNOB(type, name, value, unit, why) Knob{#name, value, value, value, why, {}, unit},
    POISE_PARTITION_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

}  // namespace poise
