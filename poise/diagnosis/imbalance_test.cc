// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/imbalance.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;

MeasuredRun run_of(const std::vector<std::vector<double>>& loads_s) {
  MeasuredRun run;
  run.node_of_rank.assign(loads_s[0].size(), 0);
  for (const auto& row : loads_s) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double s : row) phase.ranks.push_back({.wall_s = 4, .useful_s = s, .load_s = s});
  }
  return run;
}

TEST(imbalance, one_redistribution_removes_an_imbalance_that_stays_on_the_same_ranks) {
  const Imbalance i = imbalance_of(run_of(std::vector<std::vector<double>>(20, {4, 2, 2, 0})));
  EXPECT_EQ(i.kind, ImbalanceKind::persistent);
  EXPECT_DOUBLE_EQ(i.total_s, 40);
  EXPECT_NEAR(i.persistent_s, 40, 1e-9);
  // Periodic redistribution saves 2 s in each phase after the first redistribution.
  EXPECT_NEAR(i.periodic_s, 2 * (20 - i.every), 1e-9);
  EXPECT_NEAR(i.moved_share, 0.25, 1e-12);  // only the first redistribution moves work
}

TEST(imbalance, a_redistribution_before_any_rank_has_worked_moves_nothing) {
  std::vector<std::vector<double>> loads(10, {0, 0, 0, 0});
  loads.resize(20, {4, 2, 2, 0});
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.every, 1u);
  EXPECT_NEAR(i.periodic_s, 2 * (10 - 1), 1e-9);
  EXPECT_NEAR(i.moved_share, 0.25, 1e-12);
}

TEST(imbalance, redistribution_does_not_remove_an_imbalance_that_alternates_between_two_ranks) {
  std::vector<std::vector<double>> loads;
  for (int p = 0; p < 40; ++p)
    loads.push_back(p % 2 == 0 ? std::vector<double>{4, 0} : std::vector<double>{0, 4});
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.kind, ImbalanceKind::random);
  EXPECT_DOUBLE_EQ(i.total_s, 80);
  EXPECT_NEAR(i.persistent_s, 0, 1e-9);
  EXPECT_LT(i.periodic_s, 0.2 * i.total_s);
}

/// A run in which rank 0 is busier in phases called "a" and rank 1 in phases called "b". Each of
/// the two names occurs `times` times.
MeasuredRun run_with_names(int times) {
  std::vector<std::vector<double>> loads;
  for (int p = 0; p < 2 * times; ++p)
    loads.push_back(p % 2 == 0 ? std::vector<double>{4, 0} : std::vector<double>{0, 4});
  MeasuredRun run = run_of(loads);
  for (std::size_t p = 0; p < run.phases.size(); ++p) run.phases[p].name = p % 2 == 0 ? "a" : "b";
  return run;
}

TEST(imbalance, one_redistribution_removes_an_imbalance_that_is_the_same_in_phases_of_one_name) {
  const MeasuredRun run = run_with_names(20);
  const Imbalance i = imbalance_of(run);
  EXPECT_EQ(i.kind, ImbalanceKind::named);
  EXPECT_NEAR(i.persistent_s, 0, 1e-9);
  EXPECT_NEAR(i.named_s, 80, 1e-9);
  EXPECT_THAT(distributed_loads_s(run, i, true), testing::Each(ElementsAre(2, 2)));
  // With fewer than four phases, a name says nothing about further phases of this name.
  EXPECT_EQ(imbalance_of(run_with_names(4)).kind, ImbalanceKind::named);
  EXPECT_EQ(imbalance_of(run_with_names(3)).kind, ImbalanceKind::random);
  EXPECT_NEAR(imbalance_of(run_with_names(3)).named_s, 0, 1e-9);
}

TEST(imbalance, frequent_redistribution_removes_an_imbalance_that_moves_slowly_from_rank_to_rank) {
  std::vector<std::vector<double>> loads;
  for (int p = 0; p < 80; ++p) {
    std::vector<double> row(4, 1);
    row[static_cast<std::size_t>(p / 20)] = 4;
    loads.push_back(row);
  }
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.kind, ImbalanceKind::drifting);
  EXPECT_LT(i.persistent_s, 0.1 * i.total_s);
  EXPECT_GT(i.periodic_s, 0.8 * i.total_s);
  EXPECT_LE(i.every, 5u);
}

TEST(imbalance, costs_nothing_if_ranks_do_not_wait_for_each_other) {
  MeasuredRun run;
  run.node_of_rank = {0, 0};
  for (int p = 0; p < 40; ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double s : {p % 2 == 0 ? 4. : 1., p % 2 == 0 ? 1. : 4.})
      phase.ranks.push_back({.wall_s = s, .useful_s = s, .load_s = s});
  }
  EXPECT_EQ(imbalance_of(run).kind, ImbalanceKind::none);
  EXPECT_NEAR(imbalance_of(run).total_s, 0, 1e-9);
  EXPECT_THAT(lost_s(run), testing::Each(testing::DoubleNear(0, 1e-9)));
  // Rank 0 does twice as much from now on. The run takes 130 s, or 110 s with even work.
  run.phases.resize(20);
  for (int p = 0; p < 40; ++p)
    run.phases.push_back({.name = "",
                          .ranks = {{.wall_s = 2, .useful_s = 2, .load_s = 2},
                                    {.wall_s = 1, .useful_s = 1, .load_s = 1}}});
  EXPECT_NEAR(imbalance_of(run).total_s, 130 - 110, 1e-9);
  const std::vector<double> lost = lost_s(run);
  EXPECT_NEAR(std::accumulate(lost.begin(), lost.end(), 0.0), 130 - 110, 1e-9);
}

TEST(imbalance, the_kind_of_imbalance_is_unknown_if_the_run_has_too_few_phases) {
  const Imbalance i = imbalance_of(run_of({{4, 2}, {4, 2}}));
  EXPECT_EQ(i.kind, ImbalanceKind::unknown);
  EXPECT_DOUBLE_EQ(i.total_s, 2);
}

TEST(imbalance, the_kind_of_imbalance_is_none_if_all_ranks_have_the_same_load) {
  const Imbalance i = imbalance_of(run_of(std::vector<std::vector<double>>(10, {1, 1, 1})));
  EXPECT_EQ(i.kind, ImbalanceKind::none);
  EXPECT_DOUBLE_EQ(i.total_s, 0);
  EXPECT_EQ(i.distributions, 0u);
}

TEST(Imbalance,
     the_estimated_error_of_the_imbalance_stays_small_if_phases_differ_only_in_duration) {
  MeasuredRun run;
  run.node_of_rank = {0, 0};
  for (const double length_s : {.01, .02, 5., .01, 3., .02, .5, 1.}) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double share : {1., .2})
      phase.ranks.push_back(
          {.wall_s = length_s, .useful_s = share * length_s, .load_s = share * length_s});
  }
  const Imbalance imbalance = imbalance_of(run);
  EXPECT_NEAR(imbalance.total_error_s, 0, 1e-12);
  EXPECT_LT(imbalance.periodic_error_s, .1 * imbalance.periodic_s);
}

TEST(Imbalance, the_estimated_error_follows_from_the_deviations_of_phases_from_their_mean) {
  // Imbalance costs 1 s in one phase and 2 s in the other. The phases have equal lengths, so each
  // of these times deviates from their mean by 1/2 s.
  const Imbalance imbalance = imbalance_of(run_of({{4, 2}, {4, 0}}));
  EXPECT_DOUBLE_EQ(imbalance.total_s, 3);
  EXPECT_DOUBLE_EQ(imbalance.total_error_s, 1.96 * std::sqrt(2 * (2 * 0.25) / (2 - 1)));
}

TEST(Imbalance, only_periodic_redistribution_leaves_the_phases_of_the_first_period_unbalanced) {
  const std::vector<double> uneven{4, 2, 2, 0}, even{2, 2, 2, 2};
  const MeasuredRun run = run_of(std::vector(4, uneven));
  Imbalance imbalance;
  imbalance.every = 2;
  EXPECT_THAT(distributed_loads_s(run, imbalance, true), ElementsAre(even, even, even, even));
  EXPECT_THAT(distributed_loads_s(run, imbalance, false), ElementsAre(uneven, uneven, even, even));
  const MeasuredRun balanced = run_of(std::vector(4, even));
  EXPECT_THAT(distributed_loads_s(balanced, imbalance, true), ElementsAre(even, even, even, even));
}

using Values = std::vector<double>;

double total(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double excess_s(const Values& loads) {
  return *std::max_element(loads.begin(), loads.end()) - total(loads) / loads.size();
}

/// Moves work so that all ranks would have the mean load if each had the predicted load `foretold`.
Values evened(Values loads, const Values& foretold) {
  const double mean = total(foretold) / foretold.size();
  double moved = 0, room = 0;
  for (std::size_t r = 0; r < loads.size(); ++r) {
    const double given = foretold[r] > mean ? loads[r] * (1 - mean / foretold[r]) : 0;
    moved += given;
    loads[r] -= given;
    room += std::max(0.0, mean - foretold[r]);
  }
  for (std::size_t r = 0; r < loads.size() && room > 0; ++r)
    loads[r] += moved * std::max(0.0, mean - foretold[r]) / room;
  return loads;
}

/// The sum of the rows with the indices `first` to `end` - 1.
Values sum_of(const std::vector<Values>& rows, std::size_t first, std::size_t end) {
  Values sum(rows[0].size());
  for (std::size_t p = first; p < end; ++p)
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += rows[p][r];
  return sum;
}

/// The seconds that periodic redistribution saves in each phase, and the loads after it.
struct Periodic {
  Values saved_s;
  std::vector<Values> loads;
  double moved_share = 0;
  std::uint64_t distributions = 0;

  Periodic(const std::vector<Values>& before, std::size_t every) : loads(before) {
    Values given(before[0].size());
    for (std::size_t p = 0; p < before.size(); ++p) {
      const std::size_t last = p - p % every;  // phase of the latest distribution
      if (last > 0) {
        const Values foretold = sum_of(before, last - every, last);
        loads[p] = evened(before[p], foretold);
        distributions += p == last;
        for (std::size_t r = 0; r < given.size() && total(foretold) > 0; ++r) {
          const double gives = foretold[r] / total(foretold) - 1.0 / given.size();
          moved_share += std::abs(gives - given[r]) / 2;
          given[r] = gives;
        }
      }
      saved_s.push_back(excess_s(before[p]) - excess_s(loads[p]));
    }
  }
};

/// The half width of the confidence interval of the sum of the values from index `first` on. It is
/// computed from the deviations of the values from a constant multiple of `times_s`.
double half_width(Values values, Values times_s, std::size_t first) {
  values.erase(values.begin(), values.begin() + std::min(first, values.size()));
  times_s.erase(times_s.begin(), times_s.begin() + std::min(first, times_s.size()));
  if (values.size() < 2) return 0;
  double squares = 0;
  for (std::size_t p = 0; p < values.size(); ++p)
    squares += std::pow(values[p] - total(values) / total(times_s) * times_s[p], 2);
  return 1.96 * std::sqrt(squares * values.size() / (values.size() - 1));
}

/// A run whose busiest ranks change slowly, at random, or not at all. Phases differ in duration.
MeasuredRun random_run(Random& random, Values& times_s) {
  MeasuredRun run;
  run.node_of_rank.assign(1 + random.below(5), 0);
  Values base(run.num_ranks());
  for (double& load : base) load = random.uniform();
  const std::uint64_t lasts = 1 + random.below(40);
  const double noise = random.below(2) == 0 ? 0.01 : 0.5;
  const bool has_names = random.below(2) == 0;
  for (std::size_t p = 0, phases = 1 + random.below(130); p < phases; ++p) {
    if (random.below(lasts) == 0) std::rotate(base.begin(), base.begin() + 1, base.end());
    MeasuredPhase& phase = run.phases.emplace_back();
    if (has_names) phase.name = std::vector<std::string>{"", "a", "a", "b"}[random.below(4)];
    if (phase.name == "a") std::ranges::reverse(base);
    const double scale = random.below(10) == 0 ? 0 : random.uniform(0.5, 1.5);
    times_s.push_back(0);
    for (const double load : base) {
      const double load_s = scale * load * (1 + noise * random.uniform()),
                   wall_s = load_s + random.uniform(0.1, 1);
      times_s.back() = std::max(times_s.back(), wall_s);
      phase.ranks.push_back({.useful_s = load_s, .load_s = load_s});
    }
    for (RankTimes& rank : phase.ranks) rank.wall_s = times_s.back();
    if (phase.name == "a") std::ranges::reverse(base);
  }
  return run;
}

ImbalanceKind kind_of(const Imbalance& i, double run_s, std::size_t phases) {
  if (i.total_s <= 0.02 * run_s) return ImbalanceKind::none;
  if (phases < 4) return ImbalanceKind::unknown;
  if (i.persistent_s >= 0.6 * i.total_s) return ImbalanceKind::persistent;
  if (i.named_s >= 0.6 * i.total_s) return ImbalanceKind::named;
  return i.periodic_s >= 0.6 * i.total_s ? ImbalanceKind::drifting : ImbalanceKind::random;
}

/// The loads if work is distributed once before the run: evenly over the phases of each name that
/// at least four phases have, and evenly over all other phases together.
std::vector<Values> evened_by_name(const std::vector<Values>& loads, const MeasuredRun& run) {
  const auto name_of = [&](std::size_t p) {
    const std::string& name = run.phases[p].name;
    const auto has_name = [&](const MeasuredPhase& phase) { return phase.name == name; };
    return std::ranges::count_if(run.phases, has_name) < 4 ? "" : name;
  };
  std::vector<Values> result;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    Values foretold(loads[p].size());
    for (std::size_t q = 0; q < loads.size(); ++q)
      for (std::size_t r = 0; r < foretold.size() && name_of(q) == name_of(p); ++r)
        foretold[r] += loads[q][r];
    result.push_back(evened(loads[p], foretold));
  }
  return result;
}

TEST(Imbalance, the_result_for_a_random_run_equals_that_of_a_simple_reference_implementation) {
  POISE_SKIP_IF_SLOW();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Values times_s, lost, once_s, named_s;
    const MeasuredRun run = random_run(random, times_s);
    std::vector<Values> loads, once;
    for (const MeasuredPhase& phase : run.phases) {
      loads.emplace_back();
      for (const RankTimes& rank : phase.ranks) loads.back().push_back(rank.load_s);
      lost.push_back(excess_s(loads.back()));
    }
    for (const Values& row : loads) {
      once.push_back(evened(row, sum_of(loads, 0, loads.size())));
      once_s.push_back(excess_s(row) - excess_s(once.back()));
    }
    const std::vector<Values> named = evened_by_name(loads, run);
    for (std::size_t p = 0; p < loads.size(); ++p)
      named_s.push_back(excess_s(loads[p]) - excess_s(named[p]));
    const Imbalance found = imbalance_of(run);
    EXPECT_NEAR(found.named_s, std::clamp(total(named_s), 0.0, total(lost)), 1e-9);
    EXPECT_NEAR(found.named_error_s, half_width(named_s, times_s, 0), 1e-9);
    EXPECT_THAT(lost_s(run), testing::Pointwise(testing::DoubleNear(1e-9), lost));
    EXPECT_NEAR(found.total_s, total(lost), 1e-9);
    EXPECT_NEAR(found.total_error_s, half_width(lost, times_s, 0), 1e-9);
    EXPECT_NEAR(found.persistent_s, std::clamp(total(once_s), 0.0, total(lost)), 1e-9);
    EXPECT_NEAR(found.persistent_error_s, half_width(once_s, times_s, 0), 1e-9);
    Imbalance expected;
    for (const std::uint32_t every : {50, 20, 10, 5, 2, 1}) {
      if (2 * every > loads.size()) continue;
      const Periodic periodic(loads, every);
      if (total(periodic.saved_s) <= 1.1 * expected.periodic_s) continue;
      expected = {.periodic_s = total(periodic.saved_s),
                  .every = every,
                  .periodic_error_s = half_width(periodic.saved_s, times_s, every),
                  .moved_share = periodic.moved_share,
                  .distributions = periodic.distributions};
    }
    EXPECT_EQ(found.every, expected.every);
    EXPECT_NEAR(found.periodic_s, expected.periodic_s, 1e-9);
    EXPECT_NEAR(found.periodic_error_s, expected.periodic_error_s, 1e-9);
    EXPECT_NEAR(found.moved_share, expected.moved_share, 1e-9);
    EXPECT_EQ(found.distributions, expected.distributions);
    EXPECT_EQ(found.kind, kind_of(found, total(times_s), loads.size()));
    const Periodic periodic(loads, found.every);
    for (std::size_t p = 0; p < loads.size(); ++p) {
      EXPECT_THAT(distributed_loads_s(run, found, true)[p],
                  testing::Pointwise(testing::DoubleNear(1e-9),
                                     found.kind == ImbalanceKind::named ? named[p] : once[p]));
      EXPECT_THAT(distributed_loads_s(run, found, false)[p],
                  testing::Pointwise(testing::DoubleNear(1e-9), periodic.loads[p]));
    }
  }
}

TEST(Imbalance, the_kind_is_determined_if_there_are_at_least_four_phases) {
  EXPECT_EQ(imbalance_of(run_of(std::vector<Values>(3, {4, 2}))).kind, ImbalanceKind::unknown);
  EXPECT_EQ(imbalance_of(run_of(std::vector<Values>(4, {4, 2}))).kind, ImbalanceKind::persistent);
}

}  // namespace
}  // namespace poise
