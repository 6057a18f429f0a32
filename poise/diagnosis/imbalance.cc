#include "poise/diagnosis/imbalance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

using Loads = std::vector<std::vector<double>>;  // per phase and rank

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double excess(std::span<const double> loads) {
  return *std::max_element(loads.begin(), loads.end()) - mean(loads);
}

/// Loads after work was distributed evenly by `foretold`: busy ranks gave work to the others in
/// proportion to what those lack. Also the share of all work that moved.
std::vector<double> redistributed(std::span<const double> loads, std::span<const double> foretold,
                                  double& moved_share) {
  const double even = mean(foretold);
  moved_share = 0;
  std::vector<double> result(loads.begin(), loads.end());
  if (even <= 0) return result;
  double lacking = 0, moved = 0;  // foretold seconds that idle ranks lack; measured ones that move
  for (std::size_t r = 0; r < loads.size(); ++r) {
    if (foretold[r] <= even) {
      lacking += even - foretold[r];
      continue;
    }
    const double kept = loads[r] * even / foretold[r];
    moved += loads[r] - kept;
    moved_share += foretold[r] - even;
    result[r] = kept;
  }
  moved_share /= even * static_cast<double>(loads.size());
  if (lacking <= 0) return result;
  for (std::size_t r = 0; r < loads.size(); ++r)
    if (foretold[r] < even) result[r] += moved * (even - foretold[r]) / lacking;
  return result;
}

/// Seconds saved in each phase if work is distributed before phases `every`, 2 `every`, ...
struct Savings {
  std::vector<double> saved_s;
  double moved_share = 0;
  std::uint64_t distributions = 0;
  double total_s() const { return std::accumulate(saved_s.begin(), saved_s.end(), 0.0); }
};

Savings periodic(const Loads& loads, std::size_t every) {
  Savings savings;
  std::vector<double> foretold(loads[0].size());
  for (std::size_t p = 0; p < loads.size(); ++p) {
    if (p < every) {
      savings.saved_s.push_back(0);
      continue;
    }
    if (p % every == 0) {
      std::fill(foretold.begin(), foretold.end(), 0);
      for (std::size_t q = p - every; q < p; ++q)
        for (std::size_t r = 0; r < foretold.size(); ++r) foretold[r] += loads[q][r];
      ++savings.distributions;
    }
    double moved = 0;
    const std::vector<double> after = redistributed(loads[p], foretold, moved);
    savings.moved_share = std::max(savings.moved_share, moved);
    savings.saved_s.push_back(excess(loads[p]) - excess(after));
  }
  return savings;
}

double once(const Loads& loads) {
  std::vector<double> foretold(loads[0].size());
  for (const auto& phase : loads)
    for (std::size_t r = 0; r < foretold.size(); ++r) foretold[r] += phase[r];
  double saved = 0, moved = 0;
  for (const auto& phase : loads)
    saved += excess(phase) - excess(redistributed(phase, foretold, moved));
  return saved;
}

/// Half width of the 95 % interval of a sum over phases.
double error_of_sum(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  if (n < 2) return 0;
  const double middle = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - middle) * (v - middle);
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

}  // namespace

Imbalance imbalance_of(const MeasuredRun& run) {
  namespace tuning = diagnosis_tuning;
  const Loads loads = loads_of(run);
  Imbalance result;
  std::vector<double> lost;
  for (const auto& phase : loads) lost.push_back(excess(phase));
  result.total_s = std::accumulate(lost.begin(), lost.end(), 0.0);
  result.total_error_s = error_of_sum(lost);
  result.persistent_s = std::clamp(once(loads), 0.0, result.total_s);
  // Rarer first: distributing more often must pay.
  for (auto every = tuning::kIntervals.rbegin(); every != tuning::kIntervals.rend(); ++every) {
    if (2 * *every > loads.size()) continue;
    const Savings savings = periodic(loads, *every);
    if (savings.total_s() <= tuning::kWorthMore * result.periodic_s) continue;
    result.periodic_s = savings.total_s();
    result.every = *every;
    result.periodic_error_s = error_of_sum(savings.saved_s);
    result.moved_share = savings.moved_share;
    result.distributions = savings.distributions;
  }
  const double run_s = efficiencies(run).run_s;
  if (result.total_s < tuning::kMinShare * run_s)
    result.kind = ImbalanceKind::none;
  else if (result.persistent_s >= tuning::kPersistentShare * result.total_s)
    result.kind = ImbalanceKind::persistent;
  else if (result.periodic_s >= tuning::kPersistentShare * result.total_s)
    result.kind = ImbalanceKind::drifting;
  else
    result.kind = ImbalanceKind::random;
  return result;
}

}  // namespace poise
