// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/imbalance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string_view>

#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

using Loads = std::vector<std::vector<double>>;  // indexed by phase, then by rank

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean(std::span<const double> values) { return sum(values) / values.size(); }

double excess(std::span<const double> loads) {
  return *std::max_element(loads.begin(), loads.end()) - mean(loads);
}

/// The measured loads of one phase after work is moved according to the predicted loads `foretold`.
/// Ranks above the mean predicted load give away what exceeds it. Each rank below the mean receives
/// a part in proportion to the load that it lacks.
std::vector<double> redistributed(std::span<const double> loads, std::span<const double> foretold) {
  const double even = mean(foretold);
  std::vector<double> result(loads.begin(), loads.end());
  double lacking = 0;  // seconds by which ranks are predicted to be below the mean
  double moved = 0;    // measured seconds of work that ranks above the mean give away
  for (std::size_t r = 0; r < loads.size(); ++r) {
    if (foretold[r] <= even) {
      lacking += even - foretold[r];
      continue;
    }
    result[r] = loads[r] * even / foretold[r];
    moved += loads[r] - result[r];
  }
  for (std::size_t r = 0; r < loads.size(); ++r)
    if (foretold[r] < even) result[r] += moved * (even - foretold[r]) / lacking;
  return result;
}

/// Returns the fraction of all work that must move between ranks for a new distribution based on
/// the predicted loads `foretold`. given[r] is the fraction of all work that rank r has given away
/// so far (negative if it received work); this function updates `given`.
double moved_between(std::span<const double> foretold, std::vector<double>& given) {
  const double even = mean(foretold);
  double moved = 0;
  for (std::size_t r = 0; r < foretold.size() && even > 0; ++r) {
    const double gives = (foretold[r] - even) / (even * foretold.size());
    moved += std::abs(gives - given[r]) / 2;
    given[r] = gives;
  }
  return moved;
}

/// Seconds saved in each phase if work is redistributed each time `every` phases have passed.
struct Savings {
  std::vector<double> saved_s;
  Loads loads_s;  // after the distributions
  double moved_share = 0;
  std::uint64_t distributions = 0;
  double total_s() const { return sum(saved_s); }
};

Savings periodic(const Loads& loads, std::size_t every) {
  Savings savings;
  std::vector<double> foretold(loads[0].size()), given(loads[0].size());
  for (std::size_t p = 0; p < loads.size(); ++p) {
    if (p < every) {
      savings.saved_s.push_back(0);
      savings.loads_s.push_back(loads[p]);
      continue;
    }
    if (p % every == 0) {
      std::fill(foretold.begin(), foretold.end(), 0);
      for (std::size_t q = p - every; q < p; ++q)
        for (std::size_t r = 0; r < foretold.size(); ++r) foretold[r] += loads[q][r];
      ++savings.distributions;
      savings.moved_share += moved_between(foretold, given);
    }
    savings.loads_s.push_back(redistributed(loads[p], foretold));
    savings.saved_s.push_back(excess(loads[p]) - excess(savings.loads_s.back()));
  }
  return savings;
}

/// Returns the group of each phase: phases of the same name form a group. Phases without a name, or
/// with a name that fewer than kMinPhases phases have, are in group 0.
std::vector<std::size_t> groups_by_name(const MeasuredRun& run) {
  std::map<std::string_view, std::size_t> phases_of, group_of;
  for (const MeasuredPhase& phase : run.phases) ++phases_of[phase.name];
  for (const auto& [name, phases] : phases_of)
    if (!name.empty() && phases >= diagnosis_tuning::kMinPhases)
      group_of.emplace(name, group_of.size() + 1);
  std::vector<std::size_t> groups;
  for (const MeasuredPhase& phase : run.phases) {
    const auto group = group_of.find(phase.name);
    groups.push_back(group == group_of.end() ? 0 : group->second);
  }
  return groups;
}

/// The loads in each phase if work is distributed once before the run. For each group of phases,
/// work is moved according to the sum of each rank's loads over the phases of the group.
Loads distributed_once(const Loads& loads, std::span<const std::size_t> group_of) {
  Loads foretold(*std::ranges::max_element(group_of) + 1, std::vector<double>(loads[0].size()));
  for (std::size_t p = 0; p < loads.size(); ++p)
    for (std::size_t r = 0; r < loads[p].size(); ++r) foretold[group_of[p]][r] += loads[p][r];
  Loads result;
  for (std::size_t p = 0; p < loads.size(); ++p)
    result.push_back(redistributed(loads[p], foretold[group_of[p]]));
  return result;
}

/// Half width of the 95 % confidence interval of the sum of `values` (one per phase, from phase
/// `first` on). Values are larger in longer phases, so the interval follows from their deviations
/// from a constant multiple of the phases' durations (ratio estimator: Cochran, Sampling
/// Techniques, 1977, section 2.9).
double error_of_sum(std::span<const double> values, std::span<const double> times_s,
                    std::size_t first) {
  if (values.size() < first + 2) return 0;
  values = values.subspan(first);
  times_s = times_s.subspan(first);
  const double n = values.size();
  const double time_s = sum(times_s);
  const double ratio = time_s > 0 ? sum(values) / time_s : 0;
  double squares = 0;
  for (std::size_t p = 0; p < values.size(); ++p) {
    const double residual = values[p] - ratio * times_s[p];
    squares += residual * residual;
  }
  return 1.96 * std::sqrt(n * squares / (n - 1));
}

Loads loads_of(const MeasuredRun& run) {
  Loads loads;
  for (const MeasuredPhase& phase : run.phases) {
    std::vector<double>& row = loads.emplace_back();
    for (const RankTimes& rank : phase.ranks) row.push_back(rank.load_s);
  }
  return loads;
}

std::vector<double> excesses(const Loads& loads) {
  std::vector<double> excesses_s;
  for (const auto& phase : loads) excesses_s.push_back(excess(phase));
  return excesses_s;
}

/// The time by which imbalance lengthens the run, divided by the sum of the excesses of all phases
/// (largest load minus mean load). The quotient is below 1 if ranks do not wait for each other at
/// the end of each phase, because the run is then shorter than the sum of the largest loads.
double lost_fraction(const MeasuredRun& run, const Loads& loads) {
  double even_s = 0;
  for (const auto& phase : loads) even_s += mean(phase);
  const double all_s = sum(excesses(loads)), most_s = efficiencies(run).run_s - even_s;
  return all_s > 0 ? std::clamp(most_s / all_s, 0.0, 1.0) : 1;
}

}  // namespace

std::vector<double> lost_s(const MeasuredRun& run) {
  const Loads loads = loads_of(run);
  const double fraction = lost_fraction(run, loads);
  std::vector<double> lost = excesses(loads);
  for (double& s : lost) s *= fraction;
  return lost;
}

Imbalance imbalance_of(const MeasuredRun& run) {
  namespace tuning = diagnosis_tuning;
  const Loads loads = loads_of(run);
  const std::vector<double> times_s = phase_times_s(run);
  Imbalance result;
  const std::vector<double> excesses_s = excesses(loads);
  result.total_s = sum(excesses_s);
  result.total_error_s = error_of_sum(excesses_s, times_s, 0);
  const auto save_once = [&](std::span<const std::size_t> group_of, double& s, double& error_s) {
    const Loads even_s = distributed_once(loads, group_of);
    std::vector<double> saved_s;
    for (std::size_t p = 0; p < loads.size(); ++p)
      saved_s.push_back(excesses_s[p] - excess(even_s[p]));
    s = std::clamp(sum(saved_s), 0.0, result.total_s);
    error_s = error_of_sum(saved_s, times_s, 0);
  };
  save_once(std::vector<std::size_t>(loads.size()), result.persistent_s, result.persistent_error_s);
  save_once(groups_by_name(run), result.named_s, result.named_error_s);
  // Longer intervals are tried first. A shorter interval is chosen only if it saves clearly more,
  // because work is then moved more often.
  for (auto every = tuning::kIntervals.rbegin(); every != tuning::kIntervals.rend(); ++every) {
    if (2 * *every > loads.size()) continue;
    const Savings savings = periodic(loads, *every);
    if (savings.total_s() <= tuning::kWorthMore * result.periodic_s) continue;
    result.periodic_s = savings.total_s();
    result.every = *every;
    result.periodic_error_s = error_of_sum(savings.saved_s, times_s, *every);
    result.moved_share = savings.moved_share;
    result.distributions = savings.distributions;
  }
  const double fraction = lost_fraction(run, loads);
  for (double* const s : {&result.total_s, &result.persistent_s, &result.named_s,
                          &result.periodic_s, &result.total_error_s, &result.persistent_error_s,
                          &result.named_error_s, &result.periodic_error_s})
    *s *= fraction;
  const double run_s = efficiencies(run).run_s;
  if (result.total_s <= tuning::kMinShare * run_s)
    result.kind = ImbalanceKind::none;
  else if (loads.size() < tuning::kMinPhases)
    result.kind = ImbalanceKind::unknown;
  else if (result.persistent_s >= tuning::kPersistentShare * result.total_s)
    result.kind = ImbalanceKind::persistent;
  else if (result.named_s >= tuning::kPersistentShare * result.total_s)
    result.kind = ImbalanceKind::named;
  else if (result.periodic_s >= tuning::kPersistentShare * result.total_s)
    result.kind = ImbalanceKind::drifting;
  else
    result.kind = ImbalanceKind::random;
  return result;
}

std::vector<std::vector<double>> distributed_loads_s(const MeasuredRun& run,
                                                     const Imbalance& imbalance, bool is_once) {
  const Loads loads = loads_of(run);
  if (!is_once) return periodic(loads, imbalance.every).loads_s;
  const bool is_named = imbalance.kind == ImbalanceKind::named;
  return distributed_once(loads,
                          is_named ? groups_by_name(run) : std::vector<std::size_t>(loads.size()));
}

}  // namespace poise
