/// Poise: local search from the current placement on the predicted iteration time.
///
/// Original to this project. A new partition balances communication and list scheduling balances
/// load, but both move most tasks; local search improves load, communication and migrations
/// together.
///
/// 1. Local search (local_search.h) runs in two stages: with a small exponent, by which all busy
/// places count, then with a large one, by which the busiest place dominates.
/// 2. If the result is well above the lower bound, and the coming phases would pay for the attempt,
/// the same is done from other starts: greedy_comm (if large tasks are shut in by small ones), a
/// new placement (if messages matter), refine_comm (if a few hubs keep all waiting), and nuco,
/// refine_comm and greedy_comm (if messages outweigh work, so that fewer places are better).
/// 3. If many tasks share a place, the best placement is polished: less traffic at equal loads,
/// then a last stage of local search.
/// 4. With `passes` or `budget_s`, the best placement is perturbed near its busiest places and
/// searched again several times per pass; improvements are kept. The result is repeatable for the
/// same seed and passes, but not with budget_s.
/// 5. On the way from the best placement back to the current one, the point with the shortest
/// total, `steps` iterations plus the migration, is the answer (returns.h): all of the moves, those
/// that pay, or none.
///
/// The result is never worse than the current placement, unless that exceeds memory: `memory_bytes`
/// per place, and the memory of domains if the machine knows it. Tasks follow another start only as
/// far as they fit.
///
/// With from_scratch=1 the current placement decides only which of several equal places a task
/// gets: all tasks are placed anew with little traffic, under a load cap (from_scratch.h).
///
/// O((n + E) log p) in practice: a visit examines one place's tasks and their neighbours, and there
/// are a few visits per place. Reasons and measurements: docs/decisions/0006-how-poise-decides.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "poise/base/in_parallel.h"
#include "poise/partition/from_scratch.h"
#include "poise/partition/less_traffic.h"
#include "poise/placement/metrics.h"
#include "poise/search/even_subphases.h"
#include "poise/search/local_search.h"
#include "poise/search/returns.h"
#include "poise/strategies/starts.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

LocalSearch::Stage blunt(const Tuning& tuning) {
  return {.exponent = tuning.blunt_exponent,
          .floor = tuning.blunt_floor,
          .min_gain = tuning.blunt_min_gain,
          .swaps = false,
          .visits = tuning.visits_per_place,
          .scans = tuning.scans_per_entry,
          .max_scans = tuning.max_scans};
}

/// For a first stage that ended at its limits, as it may with a million tasks.
LocalSearch::Stage blunt_further(const Tuning& tuning) {
  LocalSearch::Stage stage = blunt(tuning);
  stage.visits = tuning.further_visits_per_place;
  stage.scans = tuning.further_scans_per_entry;
  stage.max_scans = tuning.further_max_scans;
  return stage;
}

LocalSearch::Stage sharp(const Tuning& tuning) {
  return {.exponent = tuning.sharp_exponent,
          .floor = tuning.sharp_floor,
          .min_gain = tuning.min_gain,
          .swaps = true,
          .visits = tuning.visits_per_place,
          .scans = tuning.scans_per_entry,
          .max_scans = tuning.max_scans};
}

LocalSearch::Stage fine(const Tuning& tuning) {
  LocalSearch::Stage stage = sharp(tuning);
  stage.exponent = tuning.fine_exponent;
  stage.floor = tuning.fine_floor;
  stage.visits = tuning.fine_visits_per_place;
  return stage;
}

struct Result {
  Placement placement;
  Metrics metrics;
  double average_s;  // over all places, messages included
};

Result finish(const Problem& problem, LocalSearch& descent) {
  descent.send_home();
  Placement placement = descent.placement();
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement);
  return {std::move(placement), metrics, descent.average_s()};
}

/// Local search from `start`; nothing if it is unlikely to get below best_s, or if its average busy
/// time is max_average_s or more.
std::optional<Result> refine_from(const Problem& problem, const Placement& start,
                                  const PoiseOptions& options, double best_s = kAnything,
                                  double max_average_s = kAnything) {
  const Tuning& tuning = options.tuning;
  LocalSearch descent(problem, start, options.memory_bytes, tuning);
  if (descent.peak_s() > tuning.hopeless_start * best_s || descent.average_s() >= max_average_s)
    return std::nullopt;
  descent.run(blunt(tuning));
  if (descent.peak_s() > tuning.hopeless_stage * best_s) return std::nullopt;
  if (descent.average_s() < tuning.uneven * descent.peak_s()) descent.run(blunt_further(tuning));
  descent.run(sharp(tuning));
  return finish(problem, descent);
}

Result perturb(const Problem& problem, const Placement& start, const PoiseOptions& options,
               std::uint64_t seed) {
  Random random(seed);
  LocalSearch descent(problem, start, options.memory_bytes, options.tuning);
  descent.perturb(random);
  descent.run(sharp(options.tuning));
  return finish(problem, descent);
}

class Search {
 public:
  Search(const Problem& problem, const PoiseOptions& options)
      : problem_(problem),
        options_(options),
        tuning_(options.tuning),
        is_within_memory_(fitted(problem.current) == problem.current),
        best_(*refine_from(problem, fitted(problem.current), options)) {
    try_short_migrations();
    best_ = best_on_the_way(std::move(best_));
  }

  void try_other_starts() {
    const bool is_far_from_bound =
        best_.metrics.makespan_s > tuning_.far_from_bound * best_.metrics.makespan_bound_s;
    if ((is_far_from_bound || messages_exceed(tuning_.messages_dominate)) && pays())
      try_from(greedy_comm(problem_));
    const bool hubs_rule = this->hubs_rule();
    if (messages_exceed(tuning_.messages_weigh) && !hubs_rule && pays())
      try_from(
          placed_from_scratch(problem_,
                              {.attempts = tuning_.start_attempts,
                               .climbs = tuning_.start_climbs,
                               .threads = options_.threads},
                              tuning_),
          tuning_.clear_win * best_.metrics.iteration_s);  // local search from there adds traffic
    if (messages_exceed(tuning_.messages_dominate) && pays()) try_from(nuco(problem_));
    if (messages_exceed(hubs_rule ? tuning_.messages_weigh : tuning_.messages_dominate) && pays())
      try_from(refine_comm(problem_));
  }

  /// If many tasks share a place, local search ends with all places equally busy. From there,
  /// lowers the traffic, then evens out the rest.
  void polish() {
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    if (workload.num_tasks() < tuning_.many_tasks * machine.num_places()) return;
    const bool traffic_counts = this->traffic_counts();
    if (!traffic_counts && !is_worth_trying(best_.metrics.iteration_s - best_.average_s)) return;
    LocalSearch descent(problem_,
                        traffic_counts
                            ? fitted(with_less_traffic(problem_, best_.placement, tuning_))
                            : best_.placement,
                        options_.memory_bytes, tuning_);
    descent.run(sharp(tuning_));
    descent.run(fine(tuning_));
    take_if_better(finish(problem_, descent));
  }

  /// One pass. False if nothing can be gained, or nothing was gained in the last passes.
  bool pass(std::uint64_t number) {
    if (best_.metrics.iteration_s <= best_.metrics.makespan_bound_s) return false;
    std::vector<std::optional<Result>> trials(tuning_.trials);
    in_parallel(trials.size(), options_.threads, [&](std::size_t i) {
      trials[i] = perturb(problem_, best_.placement, options_,
                          mix(problem_.seed + trials.size() * number + i + 1));
    });
    ++passes_in_vain_;
    for (auto& trial : trials)
      if (total_s(trial->metrics) < total_s(best_.metrics)) {
        best_ = std::move(*trial);
        passes_in_vain_ = 0;
      }
    return passes_in_vain_ < tuning_.max_passes_without_gain;
  }

  /// The best placement, followed as far as it pays.
  Placement result() && {
    best_ = best_on_the_way(std::move(best_));
    even();
    return std::move(best_.placement);
  }

 private:
  /// Local search from the current placement again, but with migrations that may take longer from
  /// stage to stage: few tasks move first, and others where that pays.
  void try_short_migrations() {
    const Metrics& far = best_.metrics;
    if (!is_within_memory_ || far.migration_s <= tuning_.same_total * total_s(far)) return;
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    const double now_s = outcome_of(problem_, current).iteration_s,
                 longest_s =
                     std::min(far.migration_s, options_.steps * (now_s - far.makespan_bound_s));
    LocalSearch descent(problem_, current, options_.memory_bytes, tuning_);
    for (double part = 1.0 / 32; part <= 1; part *= 2) {
      descent.limit_migration(part * longest_s);
      descent.run(blunt(tuning_));
      descent.run(sharp(tuning_));
      Placement placement = descent.placement();
      const Metrics metrics = evaluate(machine, workload, costs, current, placement);
      if (total_s(metrics) < total_s(best_.metrics))
        best_ = {std::move(placement), metrics, descent.average_s()};
    }
  }

  double total_s(const Metrics& metrics) const {
    return options_.steps * metrics.iteration_s + metrics.migration_s;
  }

  /// Of a placement, those moves that pay; all if the current placement exceeds memory.
  Result best_on_the_way(Result far) const {
    if (!is_within_memory_) return far;
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    far.placement = poise::best_on_the_way(problem_, far.placement, options_.steps,
                                           tuning_.same_total, options_.memory_bytes)
                        .placement;
    far.metrics = evaluate(machine, workload, costs, current, far.placement);
    return far;
  }

  /// Takes another result with a shorter total, or with nearly the same and fewer bytes to move.
  void take_if_better(Result other) {
    other = best_on_the_way(std::move(other));
    const double other_s = total_s(other.metrics), best_s = total_s(best_.metrics);
    const bool is_same = std::abs(other_s - best_s) <= tuning_.same_total * best_s;
    if (is_same ? other.metrics.migrated_bytes < best_.metrics.migrated_bytes : other_s < best_s)
      best_ = std::move(other);
  }

  /// The best placement for whole phases need not be best in each subphase.
  void even() {
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    if (!workload.waits_in_subphases) return;
    best_.placement = even_in_subphases(std::move(best_.placement), problem_, tuning_);
    best_.metrics = evaluate(machine, workload, costs, current, best_.placement);
  }

  Placement fitted(const Placement& wanted) const {
    return within_memory(problem_.machine, problem_.workload, problem_.current, wanted,
                         options_.memory_bytes);
  }

  /// True if messages make the iteration more than `times` as long as the makespan.
  bool messages_exceed(double times) const {
    return best_.metrics.iteration_s > times * best_.metrics.makespan_s;
  }

  bool hubs_rule() const {
    const Metrics& metrics = best_.metrics;
    return best_.average_s < tuning_.hubs_dominate * metrics.iteration_s &&
           metrics.makespan_bound_s < tuning_.far_from_bound * metrics.average_s;
  }

  bool traffic_counts() const {
    const Metrics& metrics = best_.metrics;
    return best_.average_s > tuning_.traffic_counts * metrics.average_s &&
           metrics.iteration_s > tuning_.above_bound * metrics.makespan_bound_s &&
           is_worth_trying(best_.average_s - metrics.average_s);
  }

  bool is_worth_trying(double saved_s) const {
    return options_.steps * saved_s >= tuning_.seconds_per_task * problem_.workload.num_tasks();
  }

  bool pays() const {
    const double best_s = best_.metrics.iteration_s, bound_s = best_.metrics.makespan_bound_s;
    return tuning_.clear_win * best_s > tuning_.reachable * bound_s &&
           is_worth_trying(best_s - bound_s);
  }

  void try_from(const Placement& start, double max_average_s = kAnything) {
    auto other =
        refine_from(problem_, fitted(start), options_, best_.metrics.iteration_s, max_average_s);
    if (other) take_if_better(std::move(*other));
  }

  const Problem& problem_;
  const PoiseOptions& options_;
  const Tuning& tuning_;
  const bool is_within_memory_;
  Result best_;
  unsigned passes_in_vain_ = 0;
};

}  // namespace

Placement poise_strategy(const Problem& problem, const PoiseOptions& options) {
  if (options.from_scratch)
    return within_memory(problem.machine, problem.workload, problem.current,
                         placed_from_scratch(problem,
                                             {.attempts = options.tuning.attempts,
                                              .climbs = options.tuning.climbs,
                                              .threads = options.threads},
                                             options.tuning),
                         options.memory_bytes);
  // The only clock in any strategy; used only if a budget is given.
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.budget_s);
  Search search(problem, options);
  search.try_other_starts();
  search.polish();
  bool goes_on = true;
  std::uint64_t number = 0;
  for (; goes_on && static_cast<double>(number) < options.passes; ++number)
    goes_on = search.pass(number);
  if (options.budget_s > 0)
    for (; goes_on && Clock::now() < end; ++number) goes_on = search.pass(number);
  return std::move(search).result();
}

Placement poise_strategy(const Problem& problem, const Knobs& knobs) {
  return poise_strategy(problem, {.steps = knobs["steps"],
                                  .from_scratch = knobs["from_scratch"] != 0,
                                  .memory_bytes = static_cast<std::uint64_t>(knobs["memory_bytes"]),
                                  .passes = knobs["passes"],
                                  .budget_s = knobs["budget_s"],
                                  .threads = static_cast<unsigned>(knobs["threads"]),
                                  .tuning = tuning_from(knobs.tuning_values())});
}

}  // namespace poise
