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
  X(double,        tolerance,                 0.03,  1e-4, 1,     "of the ideal",      "smaller deviations from the ideal are accepted: in the loads of a new placement, in the iteration time above its bound, and in the time of messages or migrations") \
  X(double,        same_total,                0.001, 0,    1,     "of total",          "if two total times differ by less, they count as equal, and the placement that moves fewer bytes wins") \
  X(std::size_t,   candidates,                12,    1,    1000,  "places or tasks",   "maximum number of places of each kind that are tried for a task (those with which it communicates most, the nearest nodes), and of tasks that are tried at a place") \
  X(std::uint32_t, few_places,                64,    0,    1e6,   "places",            "if the number of cores is limited, places may be full; a task then tries every place if the machine has at most this many") \
  X(std::uint64_t, exchange_scans,            8,     0,    1000,  "scans",             "time to try an exchange in addition to the time for its messages; used if the number of cores is limited") \
  X(std::size_t,   max_table,                 16777216, 1, 1e12,  "entries",           "steps that need a larger table (nodes times nodes, or tasks times subphases) are left out; an entry takes 8 bytes, so the limit is 128 MB") \
  /* Local search (search/local_search.h): the potential is the sum of (busy / peak)^exponent over places. Only places busier */ \
  /* than 1 - 1 / exponent of the peak give tasks away; those less busy count for less than 1 / e of the busiest. */ \
  X(int,           blunt_exponent,            8,     1,    64,    "",                  "exponent of the first stage: so small that every busy place counts, and the search does not stop on plateaus") \
  X(int,           sharp_exponent,            48,    1,    512,   "",                  "exponent of the second stage: so large that the busiest place dominates") \
  X(int,           fine_exponent,             512,   1,    4096,  "",                  "exponent of the last stage: so large that only the busiest place counts") \
  X(double,        min_gain,                  2e-3,  0,    1,     "of potential",      "minimum amount by which a step must lower the potential of its place, or the sum of the busiest times of all subphases") \
  X(std::size_t,   portion,                   32,    1,    1e9,   "tasks",             "number of tasks of a place that are examined at a time; if one of them can move, the rest of the place's tasks wait") \
  X(double,        scans_per_entry,           6,     0.5,  1000,  "scans",             "a stage ends after this many scans per entry, so that no kind of graph takes much longer than others") \
  X(std::uint64_t, max_scans,                 30000000, 1000, 1e12, "scans",           "a stage ends after this many scans in all: about a second") \
  X(std::uint64_t, min_scans,                 1000,  0,    1e9,   "scans",             "number of scans that any stage may make in addition to scans_per_entry") \
  X(double,        longer_migration,          2,     1.1,  16,    "times",             "factor by which each further limit on the migration time is longer than the one before") \
  /* Passes that perturb the best placement (knobs passes and budget_s). */ \
  X(int,           perturbed_moves,           3,     1,    1000,  "moves",             "number of tries to move a task in one perturbation") \
  X(unsigned,      trials,                    8,     1,    1024,  "trials",            "number of perturbations of the same placement in one pass, and so the number of threads that have work") \
  X(unsigned,      max_passes_without_gain,   20,    1,    1e6,   "passes",            "passes end after this many in a row that gained nothing") \
  /* What a decision may cost (search/scan_budget.h): the larger of the first and of the other two together. */ \
  X(double,        effort,                    0.01,  0,    1,     "of coming phases",  "CPU time of a decision, as a fraction of the time that `steps` phases take") \
  X(double,        effort_s,                  2e-3,  0,    1e6,   "s",                 "CPU time that any decision may take") \
  X(double,        effort_per_task_s,         3e-6,  0,    1,     "s",                 "CPU time that any decision may take in addition, per task") \
  X(double,        scan_s,                    1.5e-8,  1e-10, 1,    "s",                 "CPU time of a scan: 10 to 20 ns on a processor of 2020 that is not shared") \
  X(double,        cached_entries,            1e6,     1,     1e15, "entries",           "if there are more entries, their data do not fit into a processor's cache, and a scan takes twice as long") \
  /* A new placement (partition/from_scratch.h). */ \
  X(unsigned,      attempts,                  2,     1,    100,   "attempts",          "number of vertices from which each bisection is grown; the best result is kept") \
  X(unsigned,      climbs,                    1,     0,    100,   "climbs",            "number of hill climbs at the end of each descent on traffic") \
  X(int,           refining_passes,           2,     0,    1000,  "passes",            "passes over all tasks in a descent on traffic, and hill climbs in a bisection") \
  X(std::size_t,   patience,                  24,    1,    1e9,   "moves",             "a climb ends after this many moves without a new best, plus one per patience_share vertices") \
  X(std::size_t,   patience_share,            64,    1,    1e9,   "vertices per move", "see patience: one more move per this many vertices") \
  X(std::uint32_t, coarsest,                  160,   8,    1e6,   "vertices",          "multisection bisects a graph with at most this many vertices without coarsening it") \
  X(double,        descent_coarsest,          20,    1,    1000,  "vertices per place", "a descent on traffic merges clusters until this many per place remain") \
  X(double,        heaviest_cluster,          3,     1,    100,   "of average weight", "maximum weight of a vertex of a coarsest graph") \
  X(double,        max_kept,                  0.95,  0.5,  1,     "of vertices",       "coarsening ends if more of the vertices would remain after a step") \
  X(std::uint32_t, min_vertices_for_thread,   4000,  1,    1e9,   "vertices",          "multisection gives a thread of its own only to graphs with at least this many vertices; this does not affect placements")
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
/// (returns.h). Each number f defines a point. The point's iteration time is at most that of `far`
/// plus the fraction f of the difference between the current iteration time and that of `far`.
/// There are more points at small f, where the total time changes most.
inline constexpr double kReturnParts[] = {0, 1.0 / 64, 1.0 / 16, 1.0 / 4};
/// The fractions for curve_to_current(). There are more of them than in kReturnParts, because users
/// look at the curve.
inline constexpr double kShownReturnParts[] = {0,       1.0 / 128, 1.0 / 64, 1.0 / 32, 1.0 / 16,
                                               1.0 / 8, 1.0 / 4,   1.0 / 2,  3.0 / 4};

/// with_few_moves() first tries a list of thresholds. Then, kNarrowings times, it halves the
/// distances between the best threshold so far and its two neighbours. After three halvings, the
/// total time is at most 0.2 % longer than with the best of all thresholds (relief_test.cc).
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
