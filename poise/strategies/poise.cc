/// Poise: refines the current placement until its busiest places cannot hand anything on.
///
/// This project's own. Neither a new partition nor list scheduling is best at load, communication
/// and few migrations at once: what wins is to descend on the predicted iteration. Steps are judged
/// first by a blunt potential that all busy places feel, then by a sharp one that is the busiest
/// place alone (relaxation.h). Where that leaves much above the bound on the makespan, and the
/// phases to come would pay for the look, the same is tried from greedy_comm (large tasks shut in
/// by small ones), from a placement made anew (messages weigh), from refine_comm (a few hubs keep
/// all waiting), from nuco, refine_comm and greedy_comm (messages outweigh all work, so that few
/// places are better than many). Where many tasks share a place, the best goes on with less traffic
/// in all (clusters change places while no place gets more work), then with the finest steps. With
/// `passes` or `budget_s` the best so far is perturbed near its busiest places and refined again, a
/// few times in each pass, and what gains is kept: the same seed and passes give the same answer,
/// seconds do not. Tasks then return home where that costs nothing, and all stay where the seconds
/// saved over `steps` phases are fewer than the migrations take. Never worse than the current
/// placement, unless that takes more memory than there is: `memory_bytes` at a place, and what the
/// machine knows of its domains. Where memory binds, tasks follow a start as far as they fit.
///
/// With from_scratch=1 the current placement counts for nothing but the names of places: all tasks
/// are placed anew for little traffic under a cap on the load (from_scratch.h).
///
/// O((n + E) log p) in practice: a visit looks at one place's tasks and their neighbours, and there
/// are a few visits per place.
#include <algorithm>
#include <chrono>
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
#include "poise/strategies/starts.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

constexpr Relaxation::Stage kBlunt = {
    .exponent = 8, .floor = 0.9, .least_gain = 0.01, .swaps = false, .visits = 4, .looks = 5};
constexpr Relaxation::Stage kSharp = {
    .exponent = 48, .floor = 0.98, .least_gain = 1e-3, .swaps = true, .visits = 4, .looks = 5};
constexpr Relaxation::Stage kFine = {
    .exponent = 512, .floor = 0.997, .least_gain = 1e-3, .swaps = true, .visits = 2, .looks = 5};

/// Where the average place is busy for less than this part of what the busiest is, blunt descent
/// was cut short by its looks and goes on, for a million tasks not as long.
constexpr double kUneven = 0.97;
constexpr Relaxation::Stage kBluntFurther = {.exponent = 8,
                                             .floor = 0.9,
                                             .least_gain = 0.01,
                                             .swaps = false,
                                             .visits = 50,
                                             .looks = 6,
                                             .most_looks = 12'000'000};

/// Where it is for less than this part, though work could be even, a few tasks that many send to
/// keep the others waiting: less traffic in all, which is what a placement made anew has, is no
/// help; refine_comm's order of steps may be.
constexpr double kHubsRule = 0.85;

/// Where the makespan stays this far above its bound, a large task is shut in by smaller ones and a
/// start that balances anew is worth a look.
constexpr double kFarFromBound = 1.1;

/// Where messages make the iteration so much longer than the makespan, so is a start that groups
/// tasks by affinity.
constexpr double kMessagesWeigh = 1.01;

/// Where they make it so many times longer, descent from a placement over many places ends too
/// early: every step towards fewer of them costs at first.
constexpr double kMessagesRule = 2;

/// A look from another start must promise to save so much per task. It takes some times that, which
/// later decisions need not take again. And it must win by kClearly, since it moves more. Messages
/// keep every placement this far above the bound.
constexpr double kSecondsPerTask = 5e-7;
constexpr double kClearly = 0.98;
constexpr double kNearestToBound = 1.01;

/// A start so many times the best is not worth refining, nor one so much above it after the first
/// stage.
constexpr double kHopelessStart = 2.2, kHopelessStage = 1.1;

/// Where so many tasks share a place, less traffic is worth a look, if it takes so much of the
/// average place's time and the iteration is so far above the bound; it must win by kWorthMoving.
constexpr double kManyTasks = 40, kTrafficCounts = 1.005, kNearBound = 1.006;
constexpr double kWorthMoving = 0.998;

constexpr double kAnything = std::numeric_limits<double>::infinity();

/// A pass tries this many perturbations of the best, on as many threads as there are.
constexpr unsigned kTrials = 8;
constexpr unsigned kMostInVain = 20;

struct Result {
  Placement placement;
  Metrics metrics;
  double average_s;  // of all places, messages included
};

Result finish(const Problem& problem, Relaxation& relaxation) {
  relaxation.send_home();
  Placement placement = relaxation.placement();
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement);
  return {std::move(placement), metrics, relaxation.average_s()};
}

/// Nothing if that is unlikely to get below best_s, or starts at an average of most_average_s.
std::optional<Result> refine_from(const Problem& problem, const Placement& start,
                                  std::uint64_t place_cap_bytes, double best_s = kAnything,
                                  double most_average_s = kAnything) {
  Relaxation relaxation(problem, start, place_cap_bytes);
  if (relaxation.peak_s() > kHopelessStart * best_s || relaxation.average_s() >= most_average_s)
    return std::nullopt;
  relaxation.run(kBlunt);
  if (relaxation.peak_s() > kHopelessStage * best_s) return std::nullopt;
  if (relaxation.average_s() < kUneven * relaxation.peak_s()) relaxation.run(kBluntFurther);
  relaxation.run(kSharp);
  return finish(problem, relaxation);
}

Result perturb(const Problem& problem, const Placement& start, std::uint64_t place_cap_bytes,
               std::uint64_t seed) {
  Random random(seed);
  Relaxation relaxation(problem, start, place_cap_bytes);
  relaxation.perturb(random);
  relaxation.run(kSharp);
  return finish(problem, relaxation);
}

class Search {
 public:
  Search(const Problem& problem, const PoiseOptions& options)
      : problem_(problem),
        steps_(options.steps),
        threads_(options.threads),
        place_cap_bytes_(options.memory_bytes),
        best_(*refine_from(problem, fitted(problem.current), place_cap_bytes_)) {}

  void try_other_starts() {
    const bool is_far_from_bound =
        best_.metrics.makespan_s > kFarFromBound * best_.metrics.makespan_bound_s;
    if ((is_far_from_bound || messages_exceed(kMessagesRule)) && pays())
      try_from(greedy_comm(problem_));
    const bool hubs_rule = this->hubs_rule();
    if (messages_exceed(kMessagesWeigh) && !hubs_rule && pays())
      try_from(placed_from_scratch(problem_, {.attempts = 2, .climbs = 0, .threads = threads_}),
               kClearly * best_.metrics.iteration_s);  // descent from there makes more traffic
    if (messages_exceed(kMessagesRule) && pays()) try_from(nuco(problem_));
    if (messages_exceed(hubs_rule ? kMessagesWeigh : kMessagesRule) && pays())
      try_from(refine_comm(problem_));
  }

  /// Where many tasks share a place, single moves end on a plateau on which all places are equally
  /// busy: from there, first less traffic in all, then what is left of unevenness.
  void polish() {
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    if (workload.num_tasks() < kManyTasks * machine.num_places()) return;
    const bool traffic_counts = this->traffic_counts();
    if (!traffic_counts && !is_worth_a_look(best_.metrics.iteration_s - best_.average_s)) return;
    Relaxation relaxation(
        problem_,
        traffic_counts ? fitted(with_less_traffic(problem_, best_.placement)) : best_.placement,
        place_cap_bytes_);
    relaxation.run(kSharp);
    relaxation.run(kFine);
    Result other = finish(problem_, relaxation);
    if (total_s(other.metrics) < kWorthMoving * total_s(best_.metrics)) best_ = std::move(other);
  }

  /// False when there is nothing left to gain, or nothing was gained for long.
  bool pass(std::uint64_t number) {
    if (best_.metrics.iteration_s <= best_.metrics.makespan_bound_s) return false;
    std::vector<std::optional<Result>> trials(kTrials);
    in_parallel(kTrials, threads_, [&](std::size_t i) {
      trials[i] = perturb(problem_, best_.placement, place_cap_bytes_,
                          mix(problem_.seed + kTrials * number + i + 1));
    });
    ++passes_in_vain_;
    for (auto& trial : trials)
      if (total_s(trial->metrics) < total_s(best_.metrics)) {
        best_ = std::move(*trial);
        passes_in_vain_ = 0;
      }
    return passes_in_vain_ < kMostInVain;
  }

  /// The best, if it pays or the current placement cannot be.
  Placement result() && {
    even();
    if (fitted(problem_.current) != problem_.current) return std::move(best_.placement);
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    const double now_s =
        phase_times(machine, workload, current, place_times(machine, workload, costs, current))
            .iteration_s;
    return total_s(best_.metrics) < steps_ * now_s ? std::move(best_.placement) : current;
  }

 private:
  double total_s(const Metrics& metrics) const {
    return steps_ * metrics.iteration_s + metrics.migration_s;
  }

  /// What was best on the whole need not be in each subphase.
  void even() {
    const auto& [machine, workload, current, costs, seed, past] = problem_;
    if (!workload.waits_in_subphases) return;
    best_.placement = even_in_subphases(std::move(best_.placement), problem_);
    best_.metrics = evaluate(machine, workload, costs, current, best_.placement);
  }

  Placement fitted(const Placement& wanted) const {
    return within_memory(problem_.machine, problem_.workload, problem_.current, wanted,
                         place_cap_bytes_);
  }

  /// Whether messages make the iteration so many times longer than the makespan.
  bool messages_exceed(double times) const {
    return best_.metrics.iteration_s > times * best_.metrics.makespan_s;
  }

  bool hubs_rule() const {
    const Metrics& metrics = best_.metrics;
    return best_.average_s < kHubsRule * metrics.iteration_s &&
           metrics.makespan_bound_s < kFarFromBound * metrics.average_s;
  }

  bool traffic_counts() const {
    const Metrics& metrics = best_.metrics;
    return best_.average_s > kTrafficCounts * metrics.average_s &&
           metrics.iteration_s > kNearBound * metrics.makespan_bound_s &&
           is_worth_a_look(best_.average_s - metrics.average_s);
  }

  bool is_worth_a_look(double saved_s) const {
    return steps_ * saved_s >= kSecondsPerTask * problem_.workload.num_tasks();
  }

  bool pays() const {
    const double best_s = best_.metrics.iteration_s, bound_s = best_.metrics.makespan_bound_s;
    return kClearly * best_s > kNearestToBound * bound_s && is_worth_a_look(best_s - bound_s);
  }

  void try_from(const Placement& start, double most_average_s = kAnything) {
    auto other = refine_from(problem_, fitted(start), place_cap_bytes_, best_.metrics.iteration_s,
                             most_average_s);
    if (other && total_s(other->metrics) < kClearly * total_s(best_.metrics))
      best_ = std::move(*other);
  }

  const Problem& problem_;
  const double steps_;
  const unsigned threads_;
  const std::uint64_t place_cap_bytes_;
  Result best_;
  unsigned passes_in_vain_ = 0;
};

}  // namespace

Placement poise_strategy(const Problem& problem, const PoiseOptions& options) {
  if (options.from_scratch)
    return within_memory(problem.machine, problem.workload, problem.current,
                         placed_from_scratch(problem, {.threads = options.threads}),
                         options.memory_bytes);
  // The one clock among the strategies, and only where a budget asks for it.
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
                                  .threads = static_cast<unsigned>(knobs["threads"])});
}

}  // namespace poise
