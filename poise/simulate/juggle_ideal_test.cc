// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/juggle_ideal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/online/juggle.h"

namespace poise {
namespace {

double completion_s(const JuggleRun& run) { return simulate_juggle(run).completion_s; }

/// Calls a check for all cases that the paper simulates: n = 3 to 64 threads on m = 2 to n - 1
/// places. With the address sanitizer, calls the check only for every fifteenth n.
template <typename Check>
void for_all_pairs(Check check_pair) {
  for (std::uint64_t threads = 3; threads <= 64; threads += kSanitized ? 15 : 1)
    for (std::uint64_t places = 2; places < threads; ++places) {
      SCOPED_TRACE(testing::Message() << threads << " threads on " << places << " places");
      check_pair(SpmdProgram{threads, places, 1});
    }
}

TEST(IdealJuggle, three_threads_on_two_places_take_turns) {
  // Figure 1 of the paper: after three periods, each thread has computed for 2/3 of the time.
  std::vector<std::vector<double>> seen;
  JuggleRun run{.program = {3, 2, 10}, .period_s = 1};
  for (const Redistribution how : {Redistribution::sorted, Redistribution::swaps}) {
    run.redistribution = how;
    seen.clear();
    const JuggleOutcome outcome =
        simulate_juggle(run, [&](double, std::span<const double> progress_s) {
          seen.emplace_back(progress_s.begin(), progress_s.end());
          std::sort(seen.back().begin(), seen.back().end());
        });
    ASSERT_GE(seen.size(), 6u);
    EXPECT_EQ(seen[0], (std::vector<double>{0.5, 0.5, 1}));
    EXPECT_EQ(seen[1], (std::vector<double>{1, 1.5, 1.5}));
    EXPECT_EQ(seen[2], (std::vector<double>{2, 2, 2}));
    EXPECT_DOUBLE_EQ(outcome.completion_s, 15);
  }
}

TEST(IdealJuggle, the_simulated_time_is_never_below_the_lower_bound_and_often_equal_to_it) {
  std::size_t equal = 0, all = 0, tighter = 0;
  for_all_pairs([&](const SpmdProgram& program) {
    if (!is_imbalanced(program)) return;
    for (const double period_s : {0.013, 0.1, 0.31, 0.77, 1.3, 2.9}) {
      SCOPED_TRACE(period_s);
      const double bound_s = proactive_tight_bound_s(program, period_s);
      const double simulated_s = completion_s({.program = program, .period_s = period_s});
      EXPECT_GE(simulated_s, bound_s * (1 - 1e-9));
      ++all;
      equal += simulated_s <= bound_s * (1 + 1e-9);
      tighter += bound_s > proactive_bound_s(program, period_s) * (1 + 1e-9);
    }
  });
  EXPECT_GT(2 * equal, all);
  EXPECT_GT(5 * tighter, 2 * all);
}

TEST(IdealJuggle, all_places_stop_once_per_period_for_the_time_that_a_balancing_point_costs) {
  JuggleRun run{.program = {8, 7, 30}, .period_s = 0.01, .point_cost_s = 1e-3};
  EXPECT_NEAR(completion_s(run), with_cost_s(ideal_s(run.program), 0.01, 1e-3), 0.05);
  run.redistribution = Redistribution::swaps;
  EXPECT_NEAR(completion_s(run), with_cost_s(ideal_s(run.program), 0.01, 1e-3), 0.05);
}

TEST(IdealJuggle, each_migration_stops_one_place_for_the_time_that_a_migration_costs) {
  JuggleRun run{.program = {8, 7, 30},
                .redistribution = Redistribution::swaps,
                .period_s = 0.1,
                .migration_cost_s = 1e-3};
  const JuggleOutcome outcome = simulate_juggle(run);
  const double lost_s = 1e-3 * static_cast<double>(outcome.migrations) / 7;
  EXPECT_NEAR(outcome.completion_s, ideal_s(run.program) + lost_s, 0.1);
}

TEST(IdealJuggle, threads_with_unequal_work_never_finish_before_the_lower_bound) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const auto threads = static_cast<std::uint64_t>(2 + random.below(20));
    JuggleRun run{.program = {threads, 1 + random.below(static_cast<std::uint32_t>(threads)), 1, 2},
                  .period_s = 0.03};
    for (std::uint64_t t = 0; t < threads; ++t)
      run.work_of_thread.push_back(random.uniform(0.2, 2));
    for (const Balancing how : {Balancing::none, Balancing::reactive, Balancing::proactive}) {
      run.balancing = how;
      EXPECT_GE(completion_s(run), unequal_ideal_s(run.program, run.work_of_thread) * (1 - 1e-9));
    }
  }
}

TEST(IdealJuggle, a_work_factor_of_1_for_every_thread_does_not_change_the_time) {
  JuggleRun run{.program = {16, 7, 1, 3}, .period_s = 0.1};
  const double plain_s = completion_s(run);
  run.work_of_thread.assign(16, 1.0);
  EXPECT_DOUBLE_EQ(completion_s(run), plain_s);
}

TEST(IdealJuggle, threads_that_wait_for_others_with_more_work_do_not_make_their_places_look_slow) {
  JuggleRun run{.program = {3, 3, 1, 5},
                .redistribution = Redistribution::swaps,
                .work_of_thread = {2, 1, 0.5}};
  for (const double period_s : {0.25, 1.25, 2.75, 3.5}) {  // no rounding
    SCOPED_TRACE(period_s);
    run.period_s = period_s;
    for (const double slice_s : {0.0, 0.125}) {
      run.slice_s = slice_s;
      const JuggleOutcome outcome = simulate_juggle(run);
      EXPECT_EQ(outcome.migrations, 0u);
      EXPECT_EQ(outcome.completion_s, 5 * 2);
    }
  }
}

TEST(IdealJuggle, no_threads_migrate_if_the_speeds_of_their_places_differ_only_by_rounding_errors) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    JuggleRun run{.program = {6, 6, 1, 5},
                  .redistribution = Redistribution::swaps,
                  .period_s = random.uniform(0.1, 3)};
    for (int t = 0; t < 6; ++t) run.work_of_thread.push_back(random.uniform(0.5, 2));
    EXPECT_EQ(simulate_juggle(run).migrations, 0u);
  }
}

TEST(IdealJuggle, time_slices_much_shorter_than_the_balancing_period_hardly_change_the_time) {
  JuggleRun run{.program = {8, 7, 10}, .redistribution = Redistribution::swaps, .period_s = 0.1};
  const double fair_s = completion_s(run);
  run.slice_s = 0.001;
  EXPECT_NEAR(completion_s(run), fair_s, 0.02 * fair_s);
}

TEST(IdealJuggle, time_slices_do_not_change_the_time_of_a_run_without_balancing) {
  for (const double slice_s : {0.01, 0.3, 5.0})
    EXPECT_NEAR(
        completion_s({.program = {3, 2, 10}, .balancing = Balancing::none, .slice_s = slice_s}), 20,
        1e-9);
}

TEST(IdealJuggle,
     throws_if_a_balancing_point_takes_a_whole_period_or_if_thread_work_or_slices_are_invalid) {
  EXPECT_THROW(completion_s({.program = {3, 2, 1}, .period_s = 0.1, .work_of_thread = {1, 2}}),
               Error);
  EXPECT_THROW(completion_s({.program = {3, 2, 1}, .period_s = 0.1, .point_cost_s = 0.1}), Error);
  EXPECT_THROW(
      completion_s({.program = {3, 2, 1}, .balancing = Balancing::reactive, .slice_s = 0.1}),
      Error);
}

TEST(IdealJuggle, satisfies_lemma_1_and_theorem_1_of_the_juggle_paper_and_loses_no_work) {
  for_all_pairs([](const SpmdProgram& program) {
    if (!is_imbalanced(program)) return;
    const double most = static_cast<double>(slots_of(program).most);
    const double fewest = static_cast<double>(slots_of(program).fewest);
    // Each place has `most` or `fewest` threads, which share its time. So in a period of most *
    // fewest seconds, a thread progresses by `fewest` seconds if it is on a place with `most`
    // threads, and by `most` seconds if it is on a place with `fewest` threads. Therefore all times
    // are whole numbers of seconds, and progress is computed without rounding.
    JuggleRun run{.program = program, .period_s = most * fewest};
    run.program.phase_s = 15 * run.period_s;
    for (const Redistribution how : {Redistribution::sorted, Redistribution::swaps}) {
      run.redistribution = how;
      simulate_juggle(run, [&](double now_s, std::span<const double> progress_s) {
        const auto [least, largest] = std::minmax_element(progress_s.begin(), progress_s.end());
        if (*largest >= run.program.phase_s) return;
        for (const double progress : progress_s)
          EXPECT_TRUE(progress == *least || progress == *least + lag_s(run.program, run.period_s));
        EXPECT_LE(*least, now_s / fewest - lag_s(run.program, run.period_s));
        EXPECT_EQ(std::accumulate(progress_s.begin(), progress_s.end(), 0.0),
                  now_s * static_cast<double>(program.places));
      });
    }
  });
}

TEST(IdealJuggle,
     a_balanced_run_takes_at_least_its_lower_bound_and_at_most_the_time_without_balancing) {
  for_all_pairs([](const SpmdProgram& program) {
    for (const double period_s : {0.07, 0.3, 0.5, 1.0, 1.3, 2.0, 5.0}) {
      JuggleRun run{.program = program, .period_s = period_s};
      for (const Redistribution how : {Redistribution::sorted, Redistribution::swaps}) {
        run.redistribution = how;
        const double took_s = completion_s(run);
        EXPECT_GE(took_s, proactive_bound_s(program, period_s) - 1e-9) << "period " << period_s;
        EXPECT_LE(took_s, static_s(program) + 1e-9) << "period " << period_s;
      }
    }
  });
}

TEST(IdealJuggle, the_time_approaches_the_ideal_as_the_balancing_period_gets_shorter) {
  POISE_SKIP_IF_SLOW();
  for_all_pairs([](const SpmdProgram& program) {
    for (const double period_s : {0.1, 0.01}) {
      const double took_s = completion_s({.program = program, .period_s = period_s});
      EXPECT_LE(took_s, ideal_s(program) + 2 * period_s);
    }
  });
  for (const SpmdProgram& program : {SpmdProgram{8, 7, 1}, {16, 7, 1}, {64, 3, 1}, {63, 62, 1}}) {
    const double took_s = completion_s({.program = program, .period_s = 1e-4});
    EXPECT_NEAR(took_s, ideal_s(program), 2e-4);
  }
}

TEST(IdealJuggle, balancing_changes_nothing_if_all_places_have_equally_many_threads) {
  for (const std::uint64_t threads : {4u, 8u, 12u, 3u}) {
    JuggleRun run{.program = {threads, 4, 1, 5}, .period_s = 0.13};
    for (const Redistribution how : {Redistribution::sorted, Redistribution::swaps}) {
      run.redistribution = how;
      const JuggleOutcome outcome = simulate_juggle(run);
      EXPECT_NEAR(outcome.completion_s, static_s(run.program), 1e-9);
      EXPECT_EQ(outcome.migrations, 0u);
    }
  }
}

TEST(IdealJuggle, a_run_without_balancing_takes_the_time_that_theory_predicts) {
  for_all_pairs([](const SpmdProgram& program) {
    EXPECT_NEAR(completion_s({.program = program, .balancing = Balancing::none}), static_s(program),
                1e-9);
  });
}

TEST(IdealJuggle, reactive_balancing_takes_the_time_that_theory_predicts) {
  for_all_pairs([](SpmdProgram program) {
    program.phases = 3;
    EXPECT_NEAR(completion_s({.program = program, .balancing = Balancing::reactive}),
                reactive_s(program), 1e-9);
  });
}

TEST(IdealJuggle, a_phase_with_one_balancing_point_takes_the_time_computed_by_hand) {
  // 8 threads on 7 places with one balancing point at time T. Before T, two threads share a place,
  // so each of them has done only T/2 of its work at T. Then these two get places of their own, and
  // two other threads share a place.
  for (const double point_s : {0.7, 0.9, 1.1, 1.5, 1.9}) {
    const double expected_s = std::max(1 + point_s / 2, point_s < 1 ? 2 - point_s : 0);
    ASSERT_GT(2 * point_s, expected_s);  // otherwise there would be a second balancing point
    EXPECT_DOUBLE_EQ(completion_s({.program = {8, 7, 1}, .period_s = point_s}), expected_s);
  }
}

TEST(IdealJuggle,
     balancing_only_at_the_end_of_a_phase_gains_nothing_unless_the_period_varies_at_random) {
  JuggleRun run{.program = {8, 7, 1, 400}, .period_s = 2, .seed = 1};
  EXPECT_NEAR(completion_s(run), static_s(run.program), 1e-9);
  run.jitter = 0.1;
  EXPECT_LT(completion_s(run), 0.97 * static_s(run.program));
}

TEST(IdealJuggle,
     one_balancing_point_at_a_random_time_gains_more_than_the_formula_of_the_paper_predicts) {
  // 8 threads on 7 places with one balancing point at a uniformly random time in [0, 2] s: a phase
  // of 1 s takes 5/3 s on average.
  double sum_s = 0;
  constexpr int kPoints = 2000;
  for (int i = 0; i < kPoints; ++i) {
    const double point_s = 2 * (i + 0.5) / kPoints;
    sum_s += std::max(1 + point_s / 2, point_s < 1 ? 2 - point_s : 0);
  }
  EXPECT_NEAR(sum_s / kPoints, 5.0 / 3, 1e-4);
  EXPECT_GT(balanced_once_s({8, 7, 1}), 5.0 / 3);
}

TEST(IdealJuggle, needs_three_migrations_per_period_for_eight_threads_on_seven_places) {
  // Section 4.5 of the paper: there are at most two swaps per period, that is, four migrations. On
  // average there are three migrations per period.
  const JuggleOutcome outcome = simulate_juggle(
      {.program = {8, 7, 30}, .redistribution = Redistribution::swaps, .period_s = 0.1});
  const auto points = static_cast<double>(outcome.balancing_points);
  EXPECT_NEAR(static_cast<double>(outcome.migrations) / points, 3, 0.05);
}

TEST(IdealJuggle,
     moving_threads_by_swaps_instead_of_sorting_changes_the_time_by_at_most_two_periods) {
  for_all_pairs([](const SpmdProgram& program) {
    for (const double period_s : {0.05, 0.11}) {
      JuggleRun run{.program = program, .period_s = period_s};
      const double sorted_s = completion_s(run);
      run.redistribution = Redistribution::swaps;
      EXPECT_NEAR(completion_s(run), sorted_s, 2 * period_s);
    }
  });
}

TEST(IdealJuggle, each_domain_is_balanced_separately) {
  // Section 4.1 of the paper: with 8 threads on 7 places in two domains, one domain has 4 threads
  // on 3 places.
  const JuggleRun run{
      .program = {8, 7, 1}, .period_s = 0.001, .domain_of_place = equal_domains(7, 2)};
  EXPECT_NEAR(completion_s(run), 4.0 / 3, 0.002);
  EXPECT_EQ(equal_domains(7, 2), (std::vector<DomainId>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_THROW(equal_domains(3, 4), Error);
  EXPECT_THROW(equal_domains(3, 0), Error);
}

TEST(IdealJuggle,
     hybrid_balancing_takes_at_least_the_ideal_time_and_at_most_the_time_without_balancing) {
  // Hybrid balancing (threads move every period and also when a thread blocks) may be slower than
  // reactive balancing (only when a thread blocks). With reactive balancing, a phase of 64 threads
  // on 38 places takes 1.5 s. With hybrid balancing it takes longer, because the balancing point at
  // 0.7 s separates threads that should stay together.
  for_all_pairs([](const SpmdProgram& program) {
    for (const double period_s : {0.1, 0.7, 2.5}) {
      const double took_s =
          completion_s({.program = program, .balancing = Balancing::hybrid, .period_s = period_s});
      EXPECT_GE(took_s, ideal_s(program) - 1e-9) << "period " << period_s;
      EXPECT_LE(took_s, static_s(program) + 1e-9) << "period " << period_s;
    }
  });
  const JuggleRun run{.program = {64, 38, 1}, .balancing = Balancing::hybrid, .period_s = 0.7};
  EXPECT_GT(completion_s(run), reactive_s(run.program));
}

/// A reference implementation of simulate_juggle(), which goes from event to event. In random_run()
/// all numbers are multiples of a power of two, and at most two threads share a place, so nothing
/// is rounded.
class Reference {
 public:
  explicit Reference(const JuggleRun& run)
      : run_(run),
        domain_of_(run.domain_of_place),
        work_s_(run.program.threads, run.program.phase_s),
        done_s_(run.program.threads, 0),
        gained_s_(run.program.threads, 0),
        idle_s_(run.program.places, 0),
        owed_s_(run.program.places, 0) {
    if (domain_of_.empty()) domain_of_.assign(run.program.places, 0);
    for (std::size_t t = 0; t < run.work_of_thread.size(); ++t) work_s_[t] *= run.work_of_thread[t];
    place_of_ = deal_threads(static_cast<std::uint32_t>(run.program.threads), domain_of_);
    by_threads_.resize(domain_of_.size());
    std::iota(by_threads_.begin(), by_threads_.end(), 0);
    std::stable_sort(by_threads_.begin(), by_threads_.end(), [&](PlaceId a, PlaceId b) {
      return std::count(place_of_.begin(), place_of_.end(), a) >
             std::count(place_of_.begin(), place_of_.end(), b);
    });
  }

  JuggleOutcome outcome() {
    const bool reacts = run_.balancing == Balancing::reactive || is_hybrid();
    for (std::uint64_t phase = 0; phase < run_.program.phases; ++phase) {
      rest_s_ = work_s_;
      while (std::count(rest_s_.begin(), rest_s_.end(), 0) < std::ssize(rest_s_)) {
        const bool has_arrived = advance();
        if (outcome_.completion_s == next_point_s())
          balance();
        else if (reacts && has_arrived)
          sort();
      }
    }
    return outcome_;
  }

  std::vector<std::vector<double>> observed_s;  // at every balancing point

 private:
  bool is_hybrid() const { return run_.balancing == Balancing::hybrid; }
  double next_point_s() const {
    return run_.balancing == Balancing::proactive || is_hybrid()
               ? run_.period_s * (1.0 + static_cast<double>(outcome_.balancing_points))
               : 1e300;
  }
  double running_on(PlaceId p) const {
    double running = 0;
    for (std::size_t t = 0; t < rest_s_.size(); ++t) running += place_of_[t] == p && rest_s_[t] > 0;
    return running;
  }

  /// Advances to the next event. Returns whether a thread has arrived at the barrier.
  bool advance() {
    double step_s = next_point_s() - outcome_.completion_s;
    for (const double owed_s : owed_s_)
      if (owed_s > 0) step_s = std::min(step_s, owed_s);
    std::vector<double> rate(rest_s_.size(), 0);
    for (std::size_t t = 0; t < rest_s_.size(); ++t) {
      if (rest_s_[t] == 0 || owed_s_[place_of_[t]] > 0) continue;
      rate[t] = 1 / running_on(place_of_[t]);
      step_s = std::min(step_s, rest_s_[t] / rate[t]);
    }
    for (PlaceId p = 0; p < owed_s_.size(); ++p)
      (owed_s_[p] > 0 ? owed_s_[p] : idle_s_[p]) += owed_s_[p] > 0       ? -step_s
                                                    : running_on(p) == 0 ? step_s
                                                                         : 0;
    bool has_arrived = false;
    for (std::size_t t = 0; t < rest_s_.size(); ++t) {
      done_s_[t] += rate[t] * step_s;
      gained_s_[t] += rate[t] * step_s;
      rest_s_[t] -= rate[t] * step_s;
      has_arrived |= rate[t] > 0 && rest_s_[t] == 0;
    }
    outcome_.completion_s += step_s;
    return has_arrived;
  }

  void balance() {
    observed_s.push_back(done_s_);
    ++outcome_.balancing_points;
    const std::vector<PlaceId> before = place_of_;
    run_.redistribution == Redistribution::swaps ? swap() : sort();
    for (double& owed_s : owed_s_) owed_s += run_.point_cost_s;
    for (std::size_t t = 0; t < before.size(); ++t)
      if (place_of_[t] != before[t]) owed_s_[place_of_[t]] += run_.migration_cost_s;
    std::fill(gained_s_.begin(), gained_s_.end(), 0);
    std::fill(idle_s_.begin(), idle_s_.end(), 0);
    balanced_s_ = outcome_.completion_s;
  }

  void swap() {
    const double real_s = outcome_.completion_s - balanced_s_;
    std::vector<double> speed;
    for (PlaceId p = 0; p < idle_s_.size(); ++p) {
      double gained_s = 0;
      std::uint32_t threads = 0;
      for (std::size_t t = 0; t < place_of_.size(); ++t) {
        if (place_of_[t] != p) continue;
        gained_s += gained_s_[t];
        ++threads;
      }
      speed.push_back(measured_speed(gained_s, threads, real_s, idle_s_[p]));
    }
    for (const Swap& swap : juggle_swaps({done_s_, place_of_, speed, domain_of_}, 1e-6 * real_s)) {
      std::swap(place_of_[swap.behind], place_of_[swap.ahead]);
      outcome_.migrations += 2;
    }
  }

  /// In each domain, some places get one running thread less than the others, and the least
  /// advanced threads run on these places. The blocked threads are then spread so that the numbers
  /// of threads on any two places differ by at most one.
  void sort() {
    for (const DomainId d : std::set<DomainId>(domain_of_.begin(), domain_of_.end())) {
      std::vector<PlaceId> places;
      for (const PlaceId p : by_threads_)
        if (domain_of_[p] == d) places.push_back(p);
      std::vector<std::tuple<bool, double, std::size_t>> threads;  // blocked threads come last
      for (std::size_t t = 0; t < place_of_.size(); ++t)
        if (domain_of_[place_of_[t]] == d)
          threads.emplace_back(rest_s_[t] == 0, rest_s_[t] == 0 ? 0 : done_s_[t], t);
      std::sort(threads.begin(), threads.end());
      const auto running = static_cast<std::size_t>(std::count_if(
          threads.begin(), threads.end(), [](const auto& thread) { return !std::get<0>(thread); }));
      const std::size_t slow = running % places.size(), fast = places.size() - slow;
      std::vector<std::size_t> num(places.size(), 0);
      std::size_t next = 0;
      const auto put = [&](std::size_t place) {
        place_of_[std::get<2>(threads[next++])] = places[place];
        ++num[place];
      };
      const std::size_t in_fast = running / places.size() * fast;
      for (std::size_t i = 0; i < in_fast; ++i) put(slow + i % fast);
      for (std::size_t i = 0; i < running - in_fast; ++i) put(i % slow);
      for (std::size_t i = 0; i < places.size(); ++i)
        while (num[i] < (threads.size() + places.size() - 1 - i) / places.size()) put(i);
    }
  }

  const JuggleRun& run_;
  std::vector<DomainId> domain_of_;
  std::vector<PlaceId> by_threads_;  // places, in descending order of their threads at the start
  std::vector<double> work_s_, done_s_, rest_s_, gained_s_, idle_s_, owed_s_;
  std::vector<PlaceId> place_of_;
  double balanced_s_ = 0;
  JuggleOutcome outcome_;
};

JuggleRun random_run(std::uint64_t seed) {
  Random random(seed);
  const std::uint64_t places = 1 + random.below(5), threads = 1 + random.below(2 * places),
                      phases = 1 + random.below(3);
  JuggleRun run{.program = {threads, places, 1, phases},
                .period_s = static_cast<double>(1 + random.below(24)) / 16};
  const Balancing how[] = {Balancing::none, Balancing::reactive, Balancing::hybrid,
                           Balancing::proactive, Balancing::proactive};
  run.balancing = how[random.below(5)];
  if (random.below(2)) run.redistribution = Redistribution::swaps;
  if (random.below(3) == 0) run.domain_of_place = equal_domains(places, 1 + random.below(places));
  for (std::uint64_t t = 0; t < threads && seed % 2 == 0; ++t)
    run.work_of_thread.push_back(static_cast<double>(1 + random.below(16)) / 8);
  if (phases > 1) return run;
  run.point_cost_s = random.below(2) ? run.period_s / 4 : 0;
  run.migration_cost_s = random.below(2) ? 0.125 : 0;
  return run;
}

TEST(IdealJuggle, random_runs_end_at_the_same_time_as_in_a_simulation_of_every_event) {
  for (std::uint64_t seed = 0; seed < num_seeds(500); ++seed) {
    SCOPED_TRACE(seed);
    const JuggleRun run = random_run(seed);
    Reference reference(run);
    const JuggleOutcome expected = reference.outcome();
    std::vector<std::vector<double>> observed_s;
    std::vector<double> times_s;
    const JuggleOutcome outcome =
        simulate_juggle(run, [&](double now_s, std::span<const double> progress_s) {
          times_s.push_back(now_s);
          observed_s.emplace_back(progress_s.begin(), progress_s.end());
        });
    EXPECT_EQ(outcome.completion_s, expected.completion_s);
    EXPECT_EQ(outcome.balancing_points, expected.balancing_points);
    EXPECT_EQ(outcome.migrations, expected.migrations);
    EXPECT_EQ(observed_s, reference.observed_s);
    for (std::size_t i = 0; i < times_s.size(); ++i)
      EXPECT_EQ(times_s[i], run.period_s * static_cast<double>(i + 1));
  }
}

TEST(IdealJuggle, threads_of_a_place_run_in_turn_for_a_time_slice_each) {
  using Progress = std::vector<double>;
  const auto at_first_point = [](const JuggleRun& run) {
    std::optional<Progress> first_s;
    simulate_juggle(run, [&](double, std::span<const double> progress_s) {
      if (!first_s) first_s = Progress(progress_s.begin(), progress_s.end());
    });
    return first_s.value();
  };
  // Threads 0, 2 and 4 are on place 0.
  JuggleRun run{.program = {5, 2, 10}, .period_s = 1, .slice_s = 0.3125};
  EXPECT_EQ(at_first_point(run), (Progress{0.375, 0.625, 0.3125, 0.375, 0.3125}));
  run.slice_s = 0.75;
  EXPECT_EQ(at_first_point(run), (Progress{0.75, 0.75, 0.25, 0.25, 0}));
  // If a thread reaches the barrier before its slice ends, the next thread gets the place
  // immediately.
  run.work_of_thread = {0.0125, 0.05, 0.025, 0.025, 0.0125};
  run.program.phases = 2;  // the second phase begins after 0.75 s
  EXPECT_EQ(at_first_point(run), (Progress{0.25, 0.75, 0.375, 0.25, 0.125}));
}

TEST(IdealJuggle, successive_balancing_points_are_a_period_apart_plus_or_minus_the_jitter) {
  for (const double jitter : {0.0, 0.25}) {
    std::vector<double> apart_s;
    double last_s = 0;
    simulate_juggle({.program = {3, 2, 400}, .period_s = 2, .jitter = jitter, .seed = 5},
                    [&](double now_s, std::span<const double>) {
                      apart_s.push_back(now_s - last_s);
                      last_s = now_s;
                    });
    std::sort(apart_s.begin(), apart_s.end());
    EXPECT_NEAR(apart_s.front(), 2 - 2 * jitter, 0.02);
    EXPECT_NEAR(apart_s.back(), 2 + 2 * jitter, 0.02);
    EXPECT_NEAR(apart_s[apart_s.size() / 2], 2, 0.1);
    EXPECT_GE(apart_s.front(), 2 - 2 * jitter - 1e-9);
    EXPECT_LE(apart_s.back(), 2 + 2 * jitter + 1e-9);
  }
}

TEST(IdealJuggle,
     the_ideal_time_is_the_larger_of_the_longest_thread_time_and_the_mean_time_per_place) {
  const SpmdProgram program{3, 2, 5, 7};
  EXPECT_EQ(unequal_ideal_s(program, std::vector<double>{1, 2, 4}), 7 * 5 * 4);
  EXPECT_EQ(unequal_ideal_s(program, std::vector<double>{3, 3, 4}), 7 * 5 * 5);
}

TEST(IdealJuggle, domains_are_consecutive_places_and_differ_in_size_by_at_most_one) {
  for (std::uint64_t places = 1; places <= 12; ++places)
    for (std::uint64_t domains = 1; domains <= places; ++domains) {
      SCOPED_TRACE(testing::Message() << places << " places, " << domains << " domains");
      const std::vector<DomainId> domain_of = equal_domains(places, domains);
      ASSERT_EQ(domain_of.size(), places);
      EXPECT_TRUE(std::is_sorted(domain_of.begin(), domain_of.end()));
      for (DomainId d = 0; d < domains; ++d) {
        const auto size = std::count(domain_of.begin(), domain_of.end(), d);
        EXPECT_GE(size, static_cast<std::ptrdiff_t>(places / domains));
        EXPECT_LE(size, static_cast<std::ptrdiff_t>((places + domains - 1) / domains));
      }
    }
}

TEST(IdealJuggle, checks_that_each_number_of_a_run_is_within_its_limits) {
  const JuggleRun run{.program = {4, 3, 1}, .period_s = 0.5};
  const auto is_valid = [&](const std::function<void(JuggleRun&)>& change) {
    JuggleRun changed = run;
    change(changed);
    try {
      check(changed);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(is_valid([](JuggleRun&) {}));
  for (const auto& [jitter, valid] :
       {std::pair{0.0, true}, {0.99, true}, {1.0, false}, {-0.01, false}})
    EXPECT_EQ(is_valid([&](JuggleRun& r) { r.jitter = jitter; }), valid) << jitter;
  for (const auto& [cost_s, valid] :
       {std::pair{0.0, true}, {0.49, true}, {0.5, false}, {-0.01, false}})
    EXPECT_EQ(is_valid([&](JuggleRun& r) { r.point_cost_s = cost_s; }), valid) << cost_s;
  EXPECT_TRUE(is_valid([](JuggleRun& r) {
    r.point_cost_s = 9;
    r.balancing = Balancing::reactive;  // has no period
  }));
  EXPECT_FALSE(is_valid([](JuggleRun& r) { r.migration_cost_s = -1; }));
  EXPECT_FALSE(is_valid([](JuggleRun& r) { r.slice_s = -1; }));
  for (const auto& [how, may_slice] : {std::pair{Balancing::none, true},
                                       {Balancing::proactive, true},
                                       {Balancing::reactive, false},
                                       {Balancing::hybrid, false}})
    EXPECT_EQ(is_valid([&](JuggleRun& r) {
                r.balancing = how;
                r.slice_s = 0.1;
              }),
              may_slice);
  for (const Balancing how : {Balancing::proactive, Balancing::hybrid})
    EXPECT_FALSE(is_valid([&](JuggleRun& r) {
      r.balancing = how;
      r.period_s = 0;
    }));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [work, valid] :
       {std::pair{0.5, true}, {0.0, false}, {-1.0, false}, {infinity, false}})
    EXPECT_EQ(is_valid([&](JuggleRun& r) { r.work_of_thread = {1, 1, 1, work}; }), valid) << work;
  EXPECT_FALSE(is_valid([](JuggleRun& r) { r.work_of_thread = {1, 1, 1}; }));
  EXPECT_FALSE(is_valid([](JuggleRun& r) { r.domain_of_place = {0, 0}; }));
  EXPECT_TRUE(is_valid([](JuggleRun& r) { r.domain_of_place = {0, 0, 1}; }));
}

TEST(IdealJuggle, refuses_runs_with_too_many_threads_or_places_or_steps) {
  const auto is_valid = [](const JuggleRun& run) {
    try {
      check(run);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const std::uint64_t more : {0u, 1u}) {
    const std::uint64_t million = 1'000'000 + more;
    EXPECT_EQ(is_valid({.program = {million, 3, 1}, .balancing = Balancing::none}), more == 0);
    EXPECT_EQ(is_valid({.program = {3, million, 1}, .balancing = Balancing::none}), more == 0);
    EXPECT_EQ(is_valid({.program = {1000, 1000, 1, 200'000 + more}, .balancing = Balancing::none}),
              more == 0);
    EXPECT_EQ(is_valid({.program = {8000, 1000, 1, 3125 + more}, .balancing = Balancing::reactive}),
              more == 0);
  }
  // A phase takes 8 s here, so with a period of 2 s it has 4 balancing points. It counts as 8
  // steps, and each of its balancing points as one more step.
  for (const double period_s : {2.0, 1.99})
    for (const Balancing how : {Balancing::proactive, Balancing::hybrid})
      EXPECT_EQ(
          is_valid({.program = {8000, 1000, 1, 2083}, .balancing = how, .period_s = period_s}),
          period_s == 2.0);
}

TEST(IdealJuggle, throws_for_invalid_runs_and_for_runs_that_would_take_too_long) {
  EXPECT_THROW(completion_s({.program = {8, 7, 1}, .period_s = 0}), Error);
  EXPECT_THROW(completion_s({.program = {8, 7, 1}, .period_s = 1e-300}), Error);
  EXPECT_THROW(completion_s({.program = {8, 7, 1}, .period_s = 1, .jitter = 1}), Error);
  EXPECT_THROW(completion_s({.program = {8, 7, 1, 1ull << 60}, .period_s = 1}), Error);
  EXPECT_THROW(completion_s({.program = {1ull << 40, 7, 1}, .period_s = 1}), Error);
  EXPECT_THROW(completion_s({.program = {8, 7, 1}, .period_s = 1, .domain_of_place = {0}}), Error);
}

}  // namespace
}  // namespace poise
