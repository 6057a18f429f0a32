// SPDX-License-Identifier: BSD-3-Clause
// The tuning constants of the partitioner and of rank_map.h, each with its value, unit and effect.
// Users cannot change them by an option of a strategy.
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
  X(std::uint32_t, max_ways,              64,      "parts",               "more parts are made in stages of at most this many") \
  X(std::uint32_t, coarse_per_part,       30,      "vertices per part",   "coarsening ends at this many") \
  X(std::uint32_t, min_coarse,            96,      "vertices",            "coarsening ends at this many, however few parts there are") \
  X(double,        slack_of_bisection,    0.4,     "of the tolerance",    "one bisection may use this, because several bisections share the tolerance") \
  X(double,        max_kept_of_level,     0.9,     "of vertices",         "coarsening ends if a level would keep more") \
  X(int,           greedy_passes,         4,       "passes",              "passes over all vertices that move those that gain") \
  X(int,           climbs_of_parts,       2,       "climbs",              "hill climbs after the passes") \
  X(std::size_t,   climb_patience,        50,      "moves",               "a climb ends after this many moves without a new best, plus one per climb_patience_share vertices") \
  X(std::size_t,   climb_patience_share,  50,      "vertices per move",   "one more such move per this many vertices that can move at first") \
  X(std::uint32_t, max_degree,            256,     "neighbours",          "after a move, neighbours with more keep their gains: one move changes these little, and to compute them anew takes quadratic time") \
  X(std::uint8_t,  max_reliefs,           2,       "times",               "a vertex leaves overweight parts at most this often, or two parts could exchange it forever") \
  /* One rank per slot (rank_map.h, rank_sections.h, rank_distances.h). */ \
  X(unsigned,      bisection_attempts,    4,       "seeds",               "seeds from which each bisection of the ranks is grown") \
  X(int,           cuts_of_ranks,         16,      "cuts",                "all ranks are cut this many times; swaps improve the best cuts") \
  X(double,        max_starts,            4,       "cuts",                "of a small graph, this many cuts are improved by swaps: as many as the scans suffice for") \
  X(double,        work_of_cuts,          2.5e7,   "edge ends",           "fewer cuts are made of larger graphs: all of them visit this many, in about half a second") \
  X(double,        vertex_of_cut,         46,      "edge ends",           "a vertex takes as long as this many in each halving of a cut") \
  X(std::uint32_t, max_ranks_to_try_all,  9,       "ranks",               "for at most this many ranks all maps are tried") \
  X(std::size_t,   max_visits,            4000000, "partial maps",        "partial maps that are tried: about half a second") \
  X(std::size_t,   region_samples,        4,       "slots",               "slots that represent a region when distances are estimated") \
  X(std::uint32_t, max_tabulated_nodes,   1024,    "nodes",               "distances between more nodes are not kept in a table") \
  X(std::uint32_t, max_tabulated_places,  512,     "places of a node",    "distances between more places of a node are not kept in a table") \
  /* Swaps of ranks (swap_search.h): annealing, then descent. */ \
  X(int,           descent_passes,        20,      "passes",              "passes of a descent") \
  X(double,        descent_scans,         200,     "scans per edge",      "a descent ends after this many") \
  X(std::size_t,   descent_degrees,       2048,    "neighbours",          "a vertex tries this many divided by its degree partners, because a trial takes longer for a vertex of high degree") \
  X(std::size_t,   min_partners,          4,       "partners",            "but at least this many") \
  X(std::size_t,   max_partners,          32,      "partners",            "and at most this many") \
  X(std::uint32_t, slots_of_group,        8,       "slots",               "slots around each partner that a descent tries") \
  X(int,           cooling_steps,         200,     "steps",               "steps in which annealing cools") \
  X(double,        end_temperature,       0.02,    "of the start",        "temperature at which annealing ends") \
  X(double,        hot_scans,             10000,   "scans per edge",      "annealing starts at a temperature t if the budget is at least t times this: a hot start destroys the first map, which needs time to pay") \
  X(int,           max_draws,             4,       "draws",               "random draws to find a vertex whose move could lower the traffic") \
  X(int,           temperature_samples,   2000,    "swaps",               "trial swaps from which the start temperature is computed") \
  X(std::size_t,   max_costs,             4194304, "numbers",             "the costs of all ranks in all groups of cores are kept in a table of at most this many numbers (32 MiB)") \
  X(double,        scans_of_trial,        8,       "scans",               "with this table, choosing a group to swap with takes as long as this many scans") \
  X(double,        scans_of_lookup,       0.4,     "scans",               "the cost of a swap is looked up in this time") \
  X(double,        scans_of_update,       0.125,   "scans",               "an entry of the table is updated in this time") \
  X(std::uint64_t, anywhere_one_in,       64,      "candidates",          "one in this many candidates is drawn from all slots, the others near the partner that the vertex should approach")
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

/// The constants of PartitionTuning as rows of the printed table. They cannot be changed, so the
/// range of each contains only its value.
inline constexpr auto kPartitionNumbers = std::to_array<Knob>({
#define POISE_KNOB(type, name, value, unit, why) Knob{#name, value, value, value, why, {}, unit},
    POISE_PARTITION_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

}  // namespace poise
