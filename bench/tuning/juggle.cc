// SPDX-License-Identifier: BSD-3-Clause

#include "bench/tuning/juggle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "poise/online/juggle_causes.h"
#include "poise/online/juggle_team.h"
#include "poise/online/simulated_cpus.h"

namespace poise::bench {

namespace {

using Affinities = std::vector<std::vector<PlaceId>>;
using nlohmann::json;

/// One simulated run: `act` starts programs on the simulated cpus and runs them until the end.
struct Case {
  std::uint32_t num_cpus = 2;
  JugglePolicy policy = JugglePolicy::automatic;
  std::vector<double> known_speeds = {};  // empty: 1
  std::function<void(SimulatedCpus&)> act;
};

/// The result of a run. `done_s` is the work of the thread that has done the least, among the
/// threads of all programs that still run at the end. If the balancer decides
/// differently in two runs, the numbers in their `decisions` differ.
struct Outcome {
  double done_s = 0;
  std::vector<double> decisions;
};

Outcome outcome_of(const Case& given, const JuggleTuning& tuning) {
  std::vector<JugglePlace> places(given.num_cpus);
  for (std::size_t p = 0; p < given.known_speeds.size(); ++p)
    places[p].speed = given.known_speeds[p];
  JuggleTeam team({.policy = given.policy, .tuning = tuning}, places);
  SimulatedCpus cpus(team, given.num_cpus);
  given.act(cpus);
  Outcome outcome{std::numeric_limits<double>::infinity(), {}};
  for (const SimulatedCpus::Thread& thread : cpus.threads) {
    if (thread.program < 0) continue;
    outcome.decisions.push_back(thread.run_s);
    if (!cpus.programs[thread.program].has_ended)
      outcome.done_s = std::min(outcome.done_s, thread.work_s);
  }
  outcome.decisions.push_back(cpus.orders);
  JuggleFacts facts = team.facts();
  for (std::uint32_t cpu = 0; cpu < given.num_cpus; ++cpu) facts.cpus.push_back(cpu);
  for (const JuggleCause& cause : causes_of(facts, tuning))
    outcome.decisions.push_back(static_cast<double>(cause.kind));
  return outcome;
}

/// Affinities that bind thread i to cpu i modulo num_cpus.
Affinities bound_in_turn(std::uint32_t num_threads, std::uint32_t num_cpus) {
  Affinities own;
  for (std::uint32_t t = 0; t < num_threads; ++t) own.push_back({t % num_cpus});
  return own;
}

/// A case in which a program runs from start to end, together with `strangers` programs that the
/// balancer does not control.
Case steady(std::uint32_t num_cpus, double phase_s, SimulatedWait wait, const Affinities& own,
            int strangers = 0) {
  return {.num_cpus = num_cpus, .act = [=](SimulatedCpus& cpus) {
            cpus.add_program(phase_s, wait, own);
            for (int i = 0; i < strangers; ++i) cpus.add_stranger();
            cpus.run_until(8);
          }};
}

void add_steady_cases(std::vector<Case>& cases) {
  for (const auto wait : {SimulatedWait::sleep, SimulatedWait::spin, SimulatedWait::yield})
    for (const double phase_s : {0.0007, 0.007, 0.018, 0.025, 0.07, 0.14, 0.8}) {
      cases.push_back(steady(2, phase_s, wait, bound_in_turn(3, 2)));
      cases.push_back(steady(4, phase_s, wait, bound_in_turn(5, 4)));
      cases.push_back(steady(4, phase_s, wait, bound_in_turn(4, 3)));
      cases.push_back(steady(4, phase_s, wait, Affinities(4), 1));
    }
  for (const double rotates_every_s : {0.03, 0.2, 0.3, 0.5})
    for (const std::uint32_t cpus_less_one : {1U, 2U, 3U})
      cases.push_back({.num_cpus = cpus_less_one + 1, .act = [=](SimulatedCpus& cpus) {
                         cpus.rotates_every_s = rotates_every_s;
                         cpus.add_program(1, SimulatedWait::none, Affinities(cpus_less_one + 2));
                         cpus.run_until(8);
                       }});
  for (const std::uint32_t threads : {2U, 3U, 5U, 16U})
    for (const int strangers : {0, 1}) {
      cases.push_back(steady(2, 1, SimulatedWait::none, bound_in_turn(threads, 2), strangers));
      cases.push_back(steady(4, 1, SimulatedWait::none, Affinities(threads), strangers));
    }
}

/// Adds programs under the policies `reactive`, `hybrid` and `proactive`. In half of these cases,
/// the program reports to the balancer when its threads wait; in the other half, the balancer must
/// detect waits itself.
void add_reactive_cases(std::vector<Case>& cases) {
  for (const auto policy : {JugglePolicy::reactive, JugglePolicy::hybrid, JugglePolicy::proactive})
    for (const auto wait : {SimulatedWait::sleep, SimulatedWait::yield})
      for (const double phase_s : {0.003, 0.03, 0.3})
        for (const bool reports : {false, true}) {
          Case one = steady(4, phase_s, wait, bound_in_turn(6, 4));
          one.policy = policy;
          one.act = [act = one.act, reports](SimulatedCpus& cpus) {
            cpus.reports_waits = reports;
            act(cpus);
          };
          cases.push_back(one);
        }
}

/// Adds programs on cpus of which one is slower than the others, by 5 to 50 %.
void add_unequal_cases(std::vector<Case>& cases) {
  for (const double slower : {0.05, 0.15, 0.3, 0.5})
    for (const bool is_known : {false, true})
      for (const bool counts_work : {false, true}) {
        const std::vector<double> speed = {1, 1, 1, 1 - slower};
        cases.push_back({.num_cpus = 4,
                         .known_speeds = is_known ? speed : std::vector<double>(4, 1),
                         .act = [=](SimulatedCpus& cpus) {
                           cpus.speed = speed;
                           cpus.counts_work = counts_work;
                           cpus.add_program(0.11, SimulatedWait::spin, bound_in_turn(4, 4));
                           cpus.run_until(8);
                         }});
      }
}

/// Programs that change while they run: threads that start late, end, sleep for a long time, or are
/// started at a high rate, and other programs that come and go.
void add_changing_cases(std::vector<Case>& cases) {
  for (const double phase_s : {0.004, 0.09})
    for (const bool is_bound : {false, true}) {
      const Affinities own = is_bound ? bound_in_turn(5, 4) : Affinities(4);
      cases.push_back({.num_cpus = 4, .act = [=](SimulatedCpus& cpus) {
                         const int serial = cpus.add_program(1, SimulatedWait::none, {{0}});
                         cpus.run_until(3);
                         cpus.end(serial);
                         cpus.add_program(phase_s, SimulatedWait::spin, own);
                         cpus.run_until(8);
                       }});
      cases.push_back({.num_cpus = 4, .act = [=](SimulatedCpus& cpus) {
                         cpus.add_program(phase_s, SimulatedWait::spin, own);
                         for (int change = 1; change < 10; ++change) {
                           cpus.run_until(4 * change - 2);
                           cpus.add_stranger();
                           cpus.run_until(4 * change);
                           cpus.end_strangers();
                         }
                       }});
      // A program that sleeps for a while, and another program that runs at the same time.
      for (const double turn_s : {0.4, 3.0, 15.0})
        cases.push_back({.num_cpus = 4, .act = [=](SimulatedCpus& cpus) {
                           cpus.add_program(phase_s, SimulatedWait::sleep, own);
                           cpus.add_program(1, SimulatedWait::none, {{0}});
                           cpus.run_until(turn_s);
                           cpus.set_asleep(0, true);
                           cpus.run_until(2 * turn_s);
                           cpus.set_asleep(0, false);
                           cpus.run_until(3 * turn_s);
                         }});
      for (const double births_per_s : {8.0, 15.0, 30.0, 60.0})
        cases.push_back({.num_cpus = 4, .act = [=](SimulatedCpus& cpus) {
                           cpus.add_program(phase_s, SimulatedWait::spin, own);
                           for (int born = 0; born / births_per_s < 5; ++born) {
                             cpus.run_until(1 + born / births_per_s);
                             const int brief = cpus.add_program(1, SimulatedWait::none, {{}});
                             cpus.run_until(cpus.now_s + 0.3 / births_per_s);
                             cpus.end(brief);
                           }
                         }});
    }
  for (const auto wait : {SimulatedWait::sleep, SimulatedWait::spin})
    cases.push_back({.num_cpus = 2, .act = [=](SimulatedCpus& cpus) {
                       cpus.is_limited = true;
                       cpus.add_program(0.02, wait, Affinities(4));
                       cpus.run_until(8);
                     }});
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    add_steady_cases(all);
    add_reactive_cases(all);
    add_unequal_cases(all);
    add_changing_cases(all);
    return all;
  }();
  return cases;
}

}  // namespace

std::vector<json> juggle_rows(const std::vector<std::string>& settings) {
  std::vector<Outcome> usual;
  for (const Case& one : all_cases()) usual.push_back(outcome_of(one, {}));
  std::vector<json> rows;
  for (const std::string& setting : settings) {
    const JuggleTuning tuning = juggle_tuning_from(setting);
    double log_sum = 0, least = 1, largest = 1;
    int changed = 0;
    for (std::size_t i = 0; i < usual.size(); ++i) {
      const Outcome outcome = outcome_of(all_cases()[i], tuning);
      changed += outcome.decisions != usual[i].decisions;
      const double ratio = outcome.done_s / usual[i].done_s;
      log_sum += std::log(ratio);
      least = std::min(least, ratio);
      largest = std::max(largest, ratio);
    }
    const double cases = usual.size();
    rows.push_back(
        {{"name", "juggle:" + setting},
         {"cases", usual.size()},
         {"changed", changed},
         {"work",
          {{"geometric_mean", std::exp(log_sum / cases)}, {"least", least}, {"largest", largest}}},
         {"has_effect", changed > 0}});
  }
  return rows;
}

}  // namespace poise::bench
