// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/figures.h"

#include <algorithm>
#include <cstdint>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/base/text.h"
#include "poise/simulate/juggle_ideal.h"
#include "poise/simulate/theory.h"
#include "poise/simulate/two_jobs.h"

namespace poise {

namespace {

struct Pair {
  std::uint64_t threads, places;
};

double number(std::uint64_t count) { return count; }

double simulated_speed_up(const JuggleRun& run) {
  return static_s(run.program) / simulate_juggle(run).completion_s;
}

/// Computes figure 6 of the Juggle paper: the speed-up of 8 to 16 threads on 8 places, with phases
/// of 30 s and a balancing period of 100 ms, in one domain of eight places and in two domains of
/// four.
FigureData figure_6() {
  FigureData data{{"threads", "ideal", "simulated", "simulated_two_domains", "reactive"}, {}};
  for (std::uint64_t threads = 8; threads <= 16; ++threads) {
    JuggleRun run{.program = {threads, 8, 30}, .period_s = 0.1};
    const double pinned_s = static_s(run.program);
    const double one = simulated_speed_up(run);
    run.domain_of_place = equal_domains(8, 2);
    data.rows.push_back({number(threads), pinned_s / ideal_s(run.program), one,
                         simulated_speed_up(run), pinned_s / reactive_s(run.program)});
  }
  return data;
}

/// Computes figure 7 of the Juggle paper: the speed-up of an ideal balancer if there is one thread
/// more than the places could share evenly, that is, places * threads_per_place + 1 threads.
FigureData figure_7() {
  FigureData data{{"places", "threads_per_place", "threads", "ideal"}, {}};
  for (const std::uint64_t places : {2u, 4u, 8u, 16u, 32u, 64u})
    for (std::uint64_t share = 1; share <= 16; ++share) {
      const SpmdProgram program{places * share + 1, places, 1};
      data.rows.push_back({number(places), number(share), number(program.threads),
                           static_s(program) / ideal_s(program)});
    }
  return data;
}

FigureData period_over_phase(std::span<const Pair> pairs, double longest) {
  FigureData data{
      {"threads", "places", "period_over_phase", "upper_bound", "tighter_bound", "simulated"}, {}};
  for (const Pair& pair : pairs)
    for (int i = 1; i <= static_cast<int>(longest * 50); ++i) {
      const double period_s = 0.02 * i;
      const SpmdProgram program{pair.threads, pair.places, 1};
      data.rows.push_back({number(pair.threads), number(pair.places), period_s,
                           static_s(program) / proactive_bound_s(program, period_s),
                           static_s(program) / proactive_tight_bound_s(program, period_s),
                           simulated_speed_up({.program = program, .period_s = period_s})});
    }
  return data;
}

/// Computes figure 8 of the Juggle paper: the speed-up in one phase with between 1 and 2 threads
/// per place (n/m), for increasing balancing periods.
FigureData figure_8() {
  constexpr Pair kPairs[] = {{8, 7}, {8, 6}, {8, 5}, {9, 8}, {16, 12}};
  return period_over_phase(kPairs, 2.2);
}

/// Computes figure 9 of the Juggle paper: the speed-up in one phase with more than 2 threads per
/// place, where the paper's bound is loose.
FigureData figure_9() {
  constexpr Pair kPairs[] = {{10, 4}, {16, 7}, {25, 8}, {33, 8}};
  return period_over_phase(kPairs, 5.2);
}

/// Computes figure 10 of the Juggle paper: simulated speed-ups for all pairs of n = 3 to 64 threads
/// and m = 2 to n - 1 places, with periods of 0.01 to 5 phases.
FigureData figure_10() {
  FigureData data{{"threads", "places", "period_over_phase", "simulated"}, {}};
  for (std::uint64_t threads = 3; threads <= 64; ++threads)
    for (std::uint64_t places = 2; places < threads; ++places)
      for (int i = 1; i <= 500; ++i) {
        const SpmdProgram program{threads, places, 1};
        data.rows.push_back({number(threads), number(places), 0.01 * i,
                             simulated_speed_up({.program = program, .period_s = 0.01 * i})});
      }
  return data;
}

/// Computes figure 11 of the Juggle paper: the speed-up of 8 threads on 7 places over many phases,
/// with balancing periods from a tenth of a phase to ten phases.
FigureData figure_11() {
  FigureData data{{"period_over_phase", "approximation", "simulated", "simulated_jittered"}, {}};
  for (int i = 2; i <= 200; ++i) {
    const double period_s = 0.05 * i;
    JuggleRun run{.program = {8, 7, 1, 600}, .period_s = period_s, .seed = 1};
    const double steady = simulated_speed_up(run);
    run.jitter = 0.1;
    data.rows.push_back({period_s,
                         static_s(run.program) / proactive_approximation_s(run.program, period_s),
                         steady, simulated_speed_up(run)});
  }
  return data;
}

/// Computes figure 16 of the Juggle paper: the number of migrations if threads are moved by swaps,
/// for phases with e = 30 s of work per thread.
FigureData figure_16() {
  constexpr Pair kPairs[] = {{8, 7}, {8, 6}, {8, 5}, {16, 7}, {24, 7}, {32, 7}};
  FigureData data{
      {"threads", "places", "period_over_phase", "migrations_per_s", "migrations_per_period"}, {}};
  for (const Pair& pair : kPairs)
    for (const double period_over_phase :
         {0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0}) {
      const JuggleRun run{.program = {pair.threads, pair.places, 30},
                          .redistribution = Redistribution::swaps,
                          .period_s = 30 * period_over_phase};
      const JuggleOutcome outcome = simulate_juggle(run);
      const double migrations = number(outcome.migrations);
      data.rows.push_back({number(pair.threads), number(pair.places), period_over_phase,
                           migrations / outcome.completion_s,
                           migrations / number(outcome.balancing_points)});
    }
  return data;
}

/// Computes figure 17 of the Juggle paper: the benchmark EP with 8 threads on 7 places and phases
/// of e = 30 s. The columns are: the period, from 0.5 ms on; the speed-up without overheads; the
/// speed-up if each balancing point costs 100 us, as in the paper, by the formula and then by
/// simulation; and the simulated speed-up if the threads of a place also run in time slices of 10
/// ms, as on the paper's machine.
FigureData figure_17() {
  constexpr double kPointS = 100e-6, kSliceS = 0.01;
  FigureData data{
      {"period_ms", "ideal", "with_cost", "simulated_with_cost", "simulated_with_cost_and_turns"},
      {}};
  for (const double period_s : {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2}) {
    JuggleRun run{.program = {8, 7, 30},
                  .redistribution = Redistribution::swaps,
                  .period_s = period_s,
                  .point_cost_s = kPointS};
    const double pinned_s = static_s(run.program), ideal = ideal_s(run.program);
    const double with_cost = simulated_speed_up(run);
    run.slice_s = kSliceS;
    data.rows.push_back({1e3 * period_s, pinned_s / ideal,
                         pinned_s / with_cost_s(ideal, period_s, kPointS), with_cost,
                         simulated_speed_up(run)});
  }
  return data;
}

/// Computes the times of threads with unequal phases: the work of each thread is drawn at random
/// between 1 - spread and 1 + spread. The columns give times in units of a phase: without moves,
/// balanced with a period of a hundredth of a phase, and the lower bound.
FigureData unequal_phases() {
  constexpr Pair kPairs[] = {{8, 7}, {16, 12}, {16, 7}};
  FigureData data{{"threads", "places", "spread", "static", "balanced", "bound"}, {}};
  for (const Pair& pair : kPairs)
    for (const double spread : {0.0, 0.1, 0.2, 0.3, 0.5, 0.8}) {
      Random random(1);
      JuggleRun run{.program = {pair.threads, pair.places, 1}, .period_s = 0.01};
      for (std::uint64_t t = 0; t < pair.threads; ++t)
        run.work_of_thread.push_back(random.uniform(1 - spread, 1 + spread));
      const double balanced_s = simulate_juggle(run).completion_s;
      run.balancing = Balancing::none;
      data.rows.push_back({number(pair.threads), number(pair.places), spread,
                           simulate_juggle(run).completion_s, balanced_s,
                           unequal_ideal_s(run.program, run.work_of_thread)});
    }
  return data;
}

/// Computes the speed-up for phases of 1 to 100 ms under three rules for when threads move: once
/// per period (proactive), whenever a thread blocks at the barrier (reactive), or at both times
/// (hybrid). The period is 20 ms and varies at random by up to 10 %, as in `poise juggle`.
FigureData when_to_move() {
  constexpr Pair kPairs[] = {{3, 2}, {8, 7}, {16, 12}};
  FigureData data{{"threads", "places", "phase_ms", "proactive", "reactive", "hybrid"}, {}};
  for (const Pair& pair : kPairs)
    for (const double phase_ms : {1, 2, 5, 10, 20, 50, 100}) {
      JuggleRun run{.program = {pair.threads, pair.places, 1e-3 * phase_ms, 100},
                    .period_s = 0.02,
                    .jitter = 0.1,
                    .seed = 1};
      std::vector<double> row{number(pair.threads), number(pair.places), phase_ms};
      for (const Balancing balancing :
           {Balancing::proactive, Balancing::reactive, Balancing::hybrid}) {
        run.balancing = balancing;
        row.push_back(simulated_speed_up(run));
      }
      data.rows.push_back(row);
    }
  return data;
}

/// Computes the example in section 6 of the Juggle paper: jobs of 13 and 5 threads on 16 places.
/// Times are in units of a phase. The row for period 0 gives the limit of the results as the period
/// approaches 0.
FigureData jobs_of_section_6() {
  const TwoJobs jobs{13, 5, 16, 1};
  FigureData data{{"period_over_phase", "first_end", "second_end", "used"}, {}};
  const auto add = [&](double period_s, const TwoEnds& ends) {
    data.rows.push_back({period_s, ends.a_s, ends.b_s, ends.used});
  };
  add(0, two_jobs_limit(jobs));
  for (const double period_s : {0.001, 0.01, 0.05, 0.1, 0.2, 0.5})
    add(period_s, simulate_two_jobs(jobs, period_s));
  return data;
}

/// Computes table 1 of the Juggle paper. The benchmark FT takes 68 s with 8 threads on 8 places.
/// Here the same work is divided among n threads, so a phase takes 8 * 68 s / n. The cost of
/// oversubscription on a real machine (19 % at 32 threads in the paper) is not modelled.
FigureData table_1() {
  FigureData data{
      {"threads", "places", "static_s", "ideal_s", "simulated_s", "simulated_two_domains_s"}, {}};
  for (const std::uint64_t places : {8u, 7u})
    for (const std::uint64_t threads : {8u, 16u, 32u}) {
      JuggleRun run{.program = {threads, places, 8 * 68.0 / number(threads)}, .period_s = 0.1};
      const double one_s = simulate_juggle(run).completion_s;
      run.domain_of_place = equal_domains(places, 2);
      data.rows.push_back({number(threads), number(places), static_s(run.program),
                           ideal_s(run.program), one_s, simulate_juggle(run).completion_s});
    }
  return data;
}

constexpr Figure kFigures[] = {
    {"6", "Speed-up of 8 to 16 threads on 8 places, e = 30 s, period 100 ms", figure_6},
    {"7", "Ideal speed-up for one thread more than an equal share", figure_7},
    {"8", "Speed-up over the period, one phase, n/m below 2", figure_8},
    {"9", "Speed-up over the period, one phase, n/m above 2", figure_9},
    {"10", "Simulated speed-up for 3 to 64 threads, all numbers of places and periods", figure_10},
    {"11", "Speed-up of 8 threads on 7 places through many phases", figure_11},
    {"16", "Migrations by swaps, e = 30 s", figure_16},
    {"17", "Speed-up of 8 threads on 7 places over short periods, with overheads", figure_17},
    {"unequal", "Times of threads with unequal phases, balanced every hundredth of a phase",
     unequal_phases},
    {"when", "Speed-up by moving threads every 20 ms, when others block, and both", when_to_move},
    {"jobs", "Ends of two jobs of 80% and 30% of a node", jobs_of_section_6},
    {"table1", "A fixed work in 8, 16 and 32 threads on 8 and 7 places", table_1},
};

}  // namespace

std::span<const Figure> figures() { return kFigures; }

const Figure& figure_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Figure& figure : kFigures) {
    if (figure.name == name) return figure;
    names.push_back(figure.name);
  }
  throw Error(unknown_name("figure", name, names));
}

}  // namespace poise
