// SPDX-License-Identifier: BSD-3-Clause
// The tuned numbers of the strategy `poise`: value, range, unit and effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "poise/base/knobs.h"

namespace poise {

// One line per number: type, name, initial value, minimum, maximum, unit, effect.
// `poise strategies --tuning` prints the table. `poise:NAME=VALUE` sets a number for experiments;
// names may change with any release. Terms:
//
//   entry    a task, or one direction of a pair of tasks that exchange messages
//   scan     one entry examined: the unit in which the time of a search is limited
//   peak     busy time of the busiest place
//   bound    lower bound on the makespan (placement/metrics.h)
//   total    iteration time * steps + migration time
//
// clang-format off
#define POISE_TUNING(X) \
  /* Local search (search/local_search.h): the potential is the sum of (busy / peak)^exponent over places. */ \
  X(int,           blunt_exponent,            8,     1,    64,    "",                  "first stage: small enough that every busy place counts, so that plateaus slope") \
  X(double,        blunt_floor,               0.9,   0,    1,     "of peak",           "first stage: only places busier than this give tasks away") \
  X(double,        blunt_min_gain,            0.01,  0,    1,     "of potential",      "first stage: a step must lower its place's potential by this") \
  X(int,           sharp_exponent,            48,    1,    512,   "",                  "second stage: large enough that the busiest place dominates") \
  X(double,        sharp_floor,               0.98,  0,    1,     "of peak",           "second stage: only places busier than this give tasks away") \
  X(int,           fine_exponent,             512,   1,    4096,  "",                  "last stage, after polishing: the busiest place alone counts") \
  X(double,        fine_floor,                0.997, 0,    1,     "of peak",           "last stage: only places busier than this give tasks away") \
  X(double,        min_gain,                  1e-3,  0,    1,     "of potential",      "second and last stage: a step must lower its place's potential by this") \
  X(double,        visits_per_place,          4,     0.5,  1000,  "visits",            "first and second stage: end after this many visits per place, on average") \
  X(double,        fine_visits_per_place,     2,     0.5,  1000,  "visits",            "last stage: the same") \
  X(double,        scans_per_entry,           5,     0.5,  1000,  "scans",             "a stage ends after this many scans per entry, so that no shape of graph takes much longer than others") \
  X(std::uint64_t, max_scans,                 30000000, 1000, 1e12, "scans",           "a stage ends after this many scans in all: about a second") \
  X(std::uint64_t, min_scans,                 1000,  0,    1e9,   "scans",             "any stage may make this many scans, however few tasks there are") \
  X(double,        uneven,                    0.97,  0,    1,     "of peak",           "if the average place is less busy than this after the first stage, the limit on scans ended it, and it goes on") \
  X(double,        further_visits_per_place,  50,    0.5,  1000,  "visits",            "that further stage: as visits_per_place") \
  X(double,        further_scans_per_entry,   6,     0.5,  1000,  "scans",             "that further stage: as scans_per_entry") \
  X(std::uint64_t, further_max_scans,         12000000, 1000, 1e12, "scans",           "that further stage: as max_scans") \
  X(std::size_t,   max_partner_places,        12,    1,    1000,  "places",            "a task is tried at this many of the places it exchanges most with") \
  X(std::ptrdiff_t, max_pulls,                8,     0,    1000,  "tasks",             "this many of the tasks that cost a place most by sending to it are tried nearer") \
  X(std::size_t,   near_nodes,                6,     0,    1000,  "nodes",             "on a torus, mesh or matrix: a task is tried on this many of the nearest nodes") \
  X(std::uint32_t, max_nodes_to_rank,         4096,  1,    1e6,   "nodes",             "on larger machines the nearest nodes are not tried: finding them takes time quadratic in nodes") \
  X(double,        kept_gain,                 0.5,   0,    1,     "of gain",           "steps found together: a later one must still gain this part of what it promised") \
  /* Passes that perturb the best placement (knobs passes and budget_s). */ \
  X(double,        perturbed_floor,           0.95,  0,    1,     "of peak",           "every other perturbation starts at a place at least this busy, the others at the busiest") \
  X(int,           perturbed_moves,           6,     1,    1000,  "moves",             "tries to move a task in one perturbation") \
  X(std::uint64_t, perturbed_random_one_in,   4,     1,    1e6,   "moves",             "one move in this many goes to a random place, the others to a partner's") \
  X(unsigned,      trials,                    8,     1,    1024,  "trials",            "perturbations of the same placement in one pass: as many threads have work") \
  X(unsigned,      max_passes_without_gain,   20,    1,    1e6,   "passes",            "passes end after this many that gained nothing") \
  X(double,        passes_if_few_cores,       5,     0,    1e6,   "passes",            "if places may be full, tasks can only be exchanged, and local search ends early: passes within the budget, even without the knob") \
  /* What a decision may cost (search/scan_budget.h): the largest of the first and of the other two together. */ \
  X(double,        effort,                    0.02,  0,    1,     "of coming phases",  "CPU time of a decision, of the time that `steps` phases take") \
  X(double,        effort_of_gain,            0.1,  0,    1,     "of the gain",       "CPU time of a decision, of what `steps` phases would save at the bound") \
  X(double,        effort_s,                  4e-3,  0,    1e6,   "s",                 "CPU time of any decision") \
  X(double,        effort_per_task_s,         6e-6,  0,    1,     "s",                 "CPU time of any decision, per task") \
  X(double,        scan_s,                    6e-8,  1e-10, 1,    "s",                 "CPU time of a scan: about 60 ns on processors of 2020, with caches that are cold at first") \
  /* Few moves, and other starts. */ \
  X(double,        shortest_migration,        0.03125, 1e-6, 1,   "of unlimited",      "first limit on the time of migration, of what it takes without a limit") \
  X(double,        longer_migration,          2,     1.1, 16,    "times",             "each further limit on the time of migration is longer by this") \
  X(double,        messages_weigh,            1.01,  1,    10,    "of makespan",       "iteration above this: messages matter; start from a new placement") \
  X(double,        seconds_per_task,          5e-7,  0,    1,     "s",                 "another start must promise to save this per task over `steps` phases; the attempt takes a few times that, once") \
  X(double,        same_total,                0.001, 0,    1,     "of total",          "totals this close count as equal: the placement that moves fewer bytes wins") \
  X(double,        reachable,                 1.02,  1,    10,    "of bound",          "messages keep every placement above this, so a start that would have to get lower is not tried") \
  X(double,        hopeless_start,            2.2,   1,    100,   "of best peak",      "a start above this is not refined") \
  X(unsigned,      start_attempts,            2,     1,    100,   "attempts",          "as attempts, where a new placement is only a start") \
  X(unsigned,      start_climbs,              0,     0,    100,   "climbs",            "as climbs, where a new placement is only a start") \
  /* Polishing: less traffic at equal loads (partition/less_traffic.h), then the last stage. */ \
  X(double,        many_tasks,                40,    1,    1e6,   "tasks per place",   "polish from this many on: with fewer, more tasks move for little") \
  X(double,        traffic_counts,            1.005, 1,    10,    "of average work",   "average busy time above this: less traffic can gain") \
  X(double,        above_bound,               1.006, 1,    10,    "of bound",          "iteration above this: there is something to gain") \
  X(double,        polish_slack,              0.005, 0,    1,     "of load",           "load that a place may take on while traffic falls") \
  /* Subphases (search/even_subphases.h). */ \
  X(double,        subphase_min_gain,         5e-4,  0,    1,     "of the sum",            "a step must lower the sum of the busiest times by this") \
  X(double,        subphase_min_total,        5e-3,  0,    1,     "of iteration",      "all steps together must gain this, or they are not worth their migrations") \
  X(std::uint64_t, subphase_scans_per_task,   40,    1,    1e6,   "scans",             "steps examined per task; ten times as many gained nothing on recorded phases of 480 and 960 tasks") \
  X(std::size_t,   subphase_max_loads,        16777216, 1, 1e12,  "loads",             "tasks times subphases above this are left alone: 8 bytes each, 128 MB") \
  /* A new placement (partition/from_scratch.h). */ \
  X(double,        cap_tolerance,             0.05,  0,    1,     "of average",        "load that a place may have above the average") \
  X(unsigned,      attempts,                  4,     1,    100,   "attempts",          "vertices from which each bisection is grown; the best is kept") \
  X(unsigned,      climbs,                    2,     0,    100,   "climbs",            "hill climbs that end each descent on traffic") \
  X(std::uint32_t, coarsest,                  80,    8,    1e6,   "vertices",          "multisection: a graph of at most this many is bisected without coarsening") \
  X(double,        heaviest_in_cut,           3,     1,    100,   "of average weight", "multisection: heaviest vertex of the coarsest graph") \
  X(std::uint32_t, min_vertices_for_thread,   4000,  1,    1e9,   "vertices",          "multisection: smaller graphs are not worth a thread; no effect on placements") \
  X(double,        descent_coarsest,          10,    1,    1000,  "vertices per place", "descent on traffic: clusters are merged down to this many") \
  X(double,        descent_heaviest,          1.5,   1,    100,   "of average weight", "descent on traffic: heaviest cluster of the coarsest graph") \
  X(int,           descent_passes,            4,     0,    1000,  "passes",            "descent on traffic: passes over all tasks") \
  X(std::ptrdiff_t, descent_targets,          8,     1,    1000,  "places",            "descent on traffic: places tried per task, those it exchanges most with") \
  X(std::size_t,   descent_partners,          24,    0,    1e6,   "tasks",             "descent on traffic: tasks tried at a full place as partners of an exchange") \
  X(std::size_t,   climb_patience,            50,    1,    1e9,   "moves",             "a climb ends after this many moves without a new best, plus climb_patience_share") \
  X(std::size_t,   climb_patience_share,      100,   1,    1e9,   "vertices per move", "a climb in descent on traffic: one more move per this many vertices") \
  X(int,           bisection_passes,          2,     0,    1000,  "passes",            "a bisection: hill climbs that improve it") \
  X(std::uint32_t, bisection_patience,        24,    1,    1e9,   "moves",             "a bisection's climb: as climb_patience, but at most a quarter of the vertices") \
  X(std::uint32_t, bisection_patience_share,  64,    1,    1e9,   "vertices per move", "a bisection's climb: as climb_patience_share") \
  X(double,        max_kept,                  0.95,  0.5,  1,     "of vertices",       "coarsening ends if a step would keep more than this") \
  X(std::size_t,   cap_partners,              12,    1,    1000,  "places",            "load cap: places tried for an exchange, the least busy of equal pieces of a group") \
  X(std::size_t,   cap_heaviest,              4,     1,    1000,  "tasks",             "load cap: heaviest tasks for which room is made elsewhere") \
  X(std::size_t,   cap_steps_per_place,       8,     0,    1e6,   "steps",             "load cap out of reach: exchanges that lower the busiest places")
// clang-format on

struct Tuning {
#define POISE_FIELD(type, name, initial, least, greatest, unit, why) type name = initial;
  POISE_TUNING(POISE_FIELD)
#undef POISE_FIELD
};

inline constexpr Tuning kTuning{};

// Each stage has a larger exponent than the stage before and visits fewer places.
static_assert(kTuning.blunt_exponent < kTuning.sharp_exponent);
static_assert(kTuning.sharp_exponent < kTuning.fine_exponent);
static_assert(kTuning.blunt_floor < kTuning.sharp_floor);
static_assert(kTuning.sharp_floor < kTuning.fine_floor && kTuning.fine_floor < 1);
static_assert(kTuning.min_gain < kTuning.blunt_min_gain);
static_assert(kTuning.min_scans < kTuning.further_max_scans);
static_assert(kTuning.further_max_scans < kTuning.max_scans);
static_assert(kTuning.start_attempts <= kTuning.attempts);
static_assert(kTuning.start_climbs <= kTuning.climbs);
static_assert(kTuning.subphase_min_gain < kTuning.subphase_min_total);
static_assert(kTuning.max_kept < 1);

/// The lines above as knobs, with name, default value, range, unit and help.
inline constexpr auto kTuningKnobs = std::to_array<Knob>({
#define POISE_KNOB(type, name, initial, least, greatest, unit, why) \
  Knob{#name, initial, least, greatest, why, {}, unit},
    POISE_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

/// Returns the tuning with these values, one per knob in their order. Without values it returns
/// kTuning.
Tuning tuning_from(std::span<const double> values);

}  // namespace poise
