// SPDX-License-Identifier: BSD-3-Clause
// The tuning parameters of the strategy `poise`, each with its value, range, unit and effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "poise/base/knobs.h"

namespace poise {

// One line per parameter: type, name, default value, minimum, maximum, unit, effect.
// `poise strategies --tuning` prints the table. `poise:NAME=VALUE` sets a parameter for
// experiments; names may change with any release. Terms:
//
//   entry    a task, or one direction of a pair of tasks that exchange messages
//   scan     one entry examined: the unit in which the time of a search is limited
//   peak     busy time of the busiest place
//   bound    lower bound on the makespan (placement/metrics.h)
//   total    iteration time * steps + migration time
//
// clang-format off
#define POISE_TUNING(X) \
  X(double,        tolerance,                 0.03,  1e-4, 1,     "of the ideal",      "what is this close to the ideal is left alone: loads of a new placement, iteration above its bound, time of messages or migrations") \
  X(double,        same_total,                0.001, 0,    1,     "of total",          "totals this close count as equal: the placement that moves fewer bytes wins") \
  X(std::size_t,   candidates,                12,    1,    1000,  "places or tasks",   "places that are tried for a task, and tasks that are tried at a full place: those it communicates with most, the nearest, the least busy, the heaviest") \
  X(std::uint32_t, few_places,                64,    0,    1e6,   "places",            "if the number of cores is limited, places may be full: a task then tries every place of a machine with at most this many") \
  X(std::uint64_t, exchange_scans,            8,     0,    1000,  "scans",             "constant time to try an exchange, besides that for messages; counts if the number of cores is limited") \
  X(std::size_t,   max_table,                 16777216, 1, 1e12,  "entries",           "steps that need a larger table (nodes times nodes, tasks times subphases) are left out: 8 bytes each, 128 MB") \
  /* Local search (search/local_search.h): the potential is the sum of (busy / peak)^exponent over places. Only places busier */ \
  /* than 1 - 1 / exponent of the peak give tasks away; those less busy count for less than 1 / e of the busiest. */ \
  X(int,           blunt_exponent,            8,     1,    64,    "",                  "first stage: small enough that every busy place counts, so that plateaus slope") \
  X(int,           sharp_exponent,            48,    1,    512,   "",                  "second stage: large enough that the busiest place dominates") \
  X(int,           fine_exponent,             512,   1,    4096,  "",                  "last stage, after polishing: the busiest place alone counts") \
  X(double,        min_gain,                  2e-3,  0,    1,     "of potential",      "a step must lower its place's potential, or the sum of the busiest times of subphases, by this") \
  X(std::size_t,   portion,                   32,    1,    1e9,   "tasks",             "tasks of a place that are examined at once: if one of them can move, the others wait") \
  X(double,        scans_per_entry,           6,     0.5,  1000,  "scans",             "a stage ends after this many scans per entry, so that no shape of graph takes much longer than others") \
  X(std::uint64_t, max_scans,                 30000000, 1000, 1e12, "scans",           "a stage ends after this many scans in all: about a second") \
  X(std::uint64_t, min_scans,                 1000,  0,    1e9,   "scans",             "any stage may make this many scans, however few tasks there are") \
  X(double,        longer_migration,          2,     1.1,  16,    "times",             "each further limit on the time of migration is longer by this") \
  /* Passes that perturb the best placement (knobs passes and budget_s). */ \
  X(int,           perturbed_moves,           3,     1,    1000,  "moves",             "tries to move a task in one perturbation") \
  X(unsigned,      trials,                    8,     1,    1024,  "trials",            "perturbations of the same placement in one pass: as many threads have work") \
  X(unsigned,      max_passes_without_gain,   20,    1,    1e6,   "passes",            "passes end after this many that gained nothing") \
  /* What a decision may cost (search/scan_budget.h): the larger of the first and of the other two together. */ \
  X(double,        effort,                    0.01,  0,    1,     "of coming phases",  "CPU time of a decision, of the time that `steps` phases take") \
  X(double,        effort_s,                  2e-3,  0,    1e6,   "s",                 "CPU time of any decision") \
  X(double,        effort_per_task_s,         3e-6,  0,    1,     "s",                 "CPU time of any decision, per task") \
  X(double,        scan_s,                    1.5e-8,  1e-10, 1,    "s",                 "CPU time of a scan: 10 to 20 ns on a processor of 2020 that is not shared") \
  X(double,        cached_entries,            1e6,     1,     1e15, "entries",           "data of more entries do not fit into a processor's cache: a scan takes twice as long") \
  /* A new placement (partition/from_scratch.h). */ \
  X(unsigned,      attempts,                  2,     1,    100,   "attempts",          "vertices from which each bisection is grown; the best is kept") \
  X(unsigned,      climbs,                    1,     0,    100,   "climbs",            "hill climbs that end each descent on traffic") \
  X(int,           refining_passes,           2,     0,    1000,  "passes",            "a descent on traffic: passes over all tasks; a bisection: hill climbs") \
  X(std::size_t,   patience,                  24,    1,    1e9,   "moves",             "a climb ends after this many moves without a new best, plus one per patience_share vertices") \
  X(std::size_t,   patience_share,            64,    1,    1e9,   "vertices per move", "one more such move per this many vertices") \
  X(std::uint32_t, coarsest,                  160,   8,    1e6,   "vertices",          "multisection: a graph of at most this many is bisected without coarsening") \
  X(double,        descent_coarsest,          20,    1,    1000,  "vertices per place", "descent on traffic: clusters are merged down to this many") \
  X(double,        heaviest_cluster,          3,     1,    100,   "of average weight", "heaviest vertex of a coarsest graph") \
  X(double,        max_kept,                  0.95,  0.5,  1,     "of vertices",       "coarsening ends if a step would keep more than this") \
  X(std::uint32_t, min_vertices_for_thread,   4000,  1,    1e9,   "vertices",          "multisection: smaller graphs are not worth a thread; no effect on placements")
// clang-format on

struct Tuning {
#define POISE_FIELD(type, name, initial, least, greatest, unit, why) type name = initial;
  POISE_TUNING(POISE_FIELD)
#undef POISE_FIELD
};

inline constexpr Tuning kTuning{};

// Each stage of the local search has a larger exponent of the potential (local_search.h) than the
// stage before.
static_assert(kTuning.blunt_exponent < kTuning.sharp_exponent);
static_assert(kTuning.sharp_exponent < kTuning.fine_exponent);
static_assert(kTuning.same_total < kTuning.tolerance);
static_assert(kTuning.min_scans < kTuning.max_scans);
static_assert(kTuning.max_kept < 1);

/// The points that are tried on the way from a new placement, `far`, back to the current one
/// (returns.h). Each point has one of these fractions f: its iteration may take f * d longer than
/// that of `far`, where d is the iteration time of the current placement minus that of `far`. The
/// points are denser at small fractions, where the total time changes most.
inline constexpr double kReturnParts[] = {0, 1.0 / 64, 1.0 / 16, 1.0 / 4};
/// More fractions than kReturnParts, for curve_to_current(), because users see the curve.
inline constexpr double kShownReturnParts[] = {0,       1.0 / 128, 1.0 / 64, 1.0 / 32, 1.0 / 16,
                                               1.0 / 8, 1.0 / 4,   1.0 / 2,  3.0 / 4};

/// with_few_moves() first tries a list of thresholds. Then it halves the distances between the best
/// threshold and its two neighbours kNarrowings times. With 3 halvings, the total time is within
/// 0.2 % of that of the best threshold (relief_test.cc).
inline constexpr int kNarrowings = 3;

/// The members of Tuning as knobs (parameters): name, default value, range, help and unit of each.
inline constexpr auto kTuningKnobs = std::to_array<Knob>({
#define POISE_KNOB(type, name, initial, least, greatest, unit, why) \
  Knob{#name, initial, least, greatest, why, {}, unit},
    POISE_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

/// Returns the tuning with the given values, one per knob of kTuningKnobs and in that order.
/// Without values, returns kTuning.
Tuning tuning_from(std::span<const double> values);

}  // namespace poise
