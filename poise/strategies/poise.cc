// SPDX-License-Identifier: BSD-3-Clause
/// Poise: local search from the current placement for the shortest total time, which is the time of
/// `steps` iterations plus that of the migration.
///
/// Original to this project. A new partition balances communication and list scheduling balances
/// load, but both move most tasks; local search improves load, communication and migrations
/// together.
///
/// 0. If messages take a notable part of the time, blocks of consecutive tasks
/// (consecutive_shares.h) are a candidate. If migrations are expensive, overloaded places give a
/// few tasks away (relief.h), and local search improves this placement without lengthening its
/// migration.
/// 1. Local search (local_search.h) lowers a sum of powers of the places' busy times, in two
/// stages: with a small exponent, so that all busy places count, then with a large one, so that the
/// busiest place dominates.
/// 2. If the iterations still take notably longer than the lower bound on their time, the same
/// search is run from at most two other placements: a new one with little traffic if messages take
/// a notable part of the time, and a list schedule (finish_schedule.h). The one with the shorter
/// total time comes first. The list schedule costs little to compute, so it is made before step 1
/// and is also a candidate without a search. The placement with little traffic is a partition
/// (from_scratch.h) or the blocks of step 0, whichever has the shorter total time; blocks cost much
/// less to compute.
/// 3. Local search runs from the current placement again, with a limit on the time of migrations
/// that grows from stage to stage: a few moves, more moves, and all moves that pay. If migrations
/// take a notable part of the time, step 3 comes before step 2, because the budget may not last for
/// both.
/// 4. Polish: a last stage of local search, with an exponent so large that only the busiest place
/// counts. If step 2 made no partition, the search starts once more from a placement with little
/// traffic, provided that this takes at most half of the remaining budget.
/// 5. The best placement is perturbed near its busiest places and searched again, until the budget
/// is used up or many perturbations in a row do not shorten the total time. If the knob `passes` or
/// `budget_s` is set, the strategy then makes passes of several perturbations each, even if the
/// budget of computing time is used up. The result is repeatable for the same seed and `passes`,
/// but not with `budget_s`.
/// 6. For each candidate whose iterations are short enough, moves are undone step by step. Of the
/// placements that arise on the way, the one with the shortest total time is kept (returns.h).
/// 7. If the program has subphases, tasks move or exchange places so that each subphase is balanced
/// (even_subphases.h). At the end, single tasks return to their places if that shortens the total
/// time.
///
/// A placement is scattered if messages stay within places at most twice as often as by chance. If
/// the current placement is scattered or has about as much traffic as blocks of consecutive tasks,
/// and the budget does not allow all of these steps, the first search starts from the placement
/// with little traffic, unless a placement found so far has a shorter total time.
///
/// Step 1 always runs. The other steps run within a budget of computing time: 1 % of the time of
/// the coming phases, or 2 ms plus 3 us per task if that is longer (scan_budget.h).
///
/// The total time is never longer than with the current placement, unless that placement exceeds
/// memory (`memory_bytes` per place, and the memory of domains if the machine knows it) or the
/// workload's capacity. If a placement from which step 2 starts would exceed these limits, as few
/// tasks as necessary are moved to other places. If the workload limits the number of tasks per
/// place, local search also exchanges tasks in its first stage.
///
/// With from_scratch=1 all tasks are placed anew with little traffic, under a load cap
/// (from_scratch.h). The current placement decides which of several equal places a task gets. It is
/// kept if it respects the cap and no placement with less traffic is found.
///
/// O((n + E) log p) in practice, for n tasks, E pairs of communicating tasks and p places: local
/// search visits each place a few times, and a visit examines the tasks of the place and their
/// communication partners. Reasons and measurements: docs/decisions/0006-how-poise-decides.md.
#include "poise/strategies/poise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/free_memory.h"
#include "poise/base/in_parallel.h"
#include "poise/base/knobs.h"
#include "poise/partition/from_scratch.h"
#include "poise/partition/traffic_graph.h"
#include "poise/placement/consecutive_shares.h"
#include "poise/placement/metrics.h"
#include "poise/placement/migration_times.h"
#include "poise/placement/room.h"
#include "poise/search/even_subphases.h"
#include "poise/search/finish_schedule.h"
#include "poise/search/local_search.h"
#include "poise/search/relief.h"
#include "poise/search/returns.h"
#include "poise/search/scan_budget.h"
#include "poise/strategies/tuning.h"

namespace poise {

namespace {

LocalSearch::Stage blunt(const Tuning& tuning) {
  return {.exponent = tuning.blunt_exponent, .swaps = false};
}

LocalSearch::Stage sharp(const Tuning& tuning) {
  return {.exponent = tuning.sharp_exponent, .swaps = true};
}

LocalSearch::Stage fine(const Tuning& tuning) {
  return {.exponent = tuning.fine_exponent, .swaps = true};
}

/// Measured computing times of the steps of a decision, in scans per entry. An entry is a task, an
/// arc or a place; a scan is the time to examine one task or arc (scan_budget.h).
constexpr StrategiesTuning kCosts = kStrategiesTuning;

/// Maximum relative rounding error of a total time after many moves, each of which adds to some
/// busy times and subtracts from others.
constexpr double kRounding = 1e-9;

double allowed_s(const Tuning& tuning, double phases_s, TaskId num_tasks) {
  return std::max(tuning.effort * phases_s, tuning.effort_s + tuning.effort_per_task_s * num_tasks);
}

class Search {
 public:
  Search(const Problem& problem, const PoiseOptions& options)
      : problem_(problem),
        options_(options),
        tuning_(options.tuning),
        steps_(options.steps > 0 ? options.steps : problem.steps),
        way_(problem, steps_, options.memory_bytes),
        is_within_room_(fitted(problem.current) == problem.current),
        bound_s_(makespan_bound_s(problem.machine, problem.workload, problem.current)),
        best_(is_within_room_ ? way_.current : outcome_of(problem, fitted(problem.current))),
        entries_(problem.workload.num_tasks() + way_.shared->arcs.count() +
                 problem.machine.num_places()),
        budget_(allowed_s(tuning_, problem.share_of_effort * steps_ * best_.iteration_s,
                          problem.workload.num_tasks()) /
                (entries_ > tuning_.cached_entries ? 2 * tuning_.scan_s : tuning_.scan_s)) {
    budget_.spend(kCosts.prepare_scans * entries_);
  }

  /// Makes blocks of consecutive tasks a candidate if messages take a notable part of the time.
  /// Blocks take little computing time, so they are tried even if the budget is too small for a
  /// search that starts from them.
  void try_blocks() {
    if (!is_within_room_ || !messages_weigh() || !pays() || !may_spend(kCosts.consecutive_scans))
      return;
    blocks_ = consecutive();
    take_if_shorter(*blocks_);
  }

  /// If migrations are expensive: lets overloaded places give a few tasks away (relief.h), and
  /// improves this placement by local search without lengthening its migration. Both steps take
  /// little computing time, so they fit even into a budget that is too small for a search that
  /// moves many tasks.
  void try_few_moves() {
    if (!is_within_room_ || !pays() || !may_spend(kCosts.relief_scans)) return;
    if (longest_migration_s() <= tuning_.tolerance * total_s(best_)) return;
    budget_.spend(kCosts.relief_scans * entries_);
    if (const auto few = with_few_moves(problem_, steps_))
      take_if_shorter(outcome_of(problem_, fitted(*few)));
    if (best_.migration_s <= tuning_.tolerance * total_s(best_)) return;
    if (!may_spend(kCosts.descent_scans())) return;
    LocalSearch search = from(best_.placement);
    search.limit_migration(best_.migration_s * (1 + tuning_.same_total));
    run(search, sharp(tuning_));
    traffic_cannot_pay_ =
        steps_ * (search.average_s() - bound_s_) <= longest_migration_s() - best_.migration_s;
    take_if_better(outcome_of(problem_, search.placement()));
  }

  /// Runs the first local search, even if the budget is too small for it. If migrations are
  /// expensive, the migration time is limited to what migrations could save. In that case, the
  /// placement with the shortest total time during the search becomes a candidate, too. It may be
  /// an early one: local search relieves the busiest places first, so the moves that save most come
  /// first.
  void try_first_start() {
    try_schedule();
    const Placement start = first_start();
    if (!may_spend(kCosts.descent_scans())) budget_ = ScanBudget(kCosts.descent_scans() * entries_);
    LocalSearch descent = from(start);
    const bool is_dear = is_within_room_ && longest_migration_s() > most_saved_s();
    if (is_dear) {
      descent.limit_migration(most_saved_s());
      descent.remember_shortest(steps_);
    }
    descend(descent);
    Outcome far = outcome_of(problem_, descent.placement());
    far_migration_s_ = far.migration_s;
    take_if_better(std::move(far));
    if (is_dear) take_if_shorter(outcome_of(problem_, descent.shortest()));
    if (scheduled_) take_if_better(*scheduled_);
  }

  /// True if the migrations of the first local search take a notable part of the total time.
  bool migration_weighs() const { return far_migration_s_ > tuning_.tolerance * total_s(best_); }

  /// Runs local search from new placements, in ascending order of their total times.
  void try_other_starts() {
    std::vector<Outcome> starts;
    const double partition_scans = is_scattered(best_.placement) ? 0 : kCosts.new_placement_scans;
    if (messages_weigh() && pays() &&
        may_spend(kCosts.consecutive_scans + partition_scans + kCosts.descent_scans()))
      starts.push_back(with_little_traffic(consecutive()));
    if (scheduled_) starts.push_back(*std::exchange(scheduled_, {}));
    std::sort(starts.begin(), starts.end(),
              [&](const Outcome& a, const Outcome& b) { return total_s(a) < total_s(b); });
    for (const Outcome& start : starts)
      if (pays() && may_spend(kCosts.descent_scans())) try_from(start.placement);
  }

  /// Runs local search from the current placement again, in stages. Each stage limits the migration
  /// time to a multiple of the previous limit, so few tasks move at first, and more tasks if that
  /// pays. The search ends after two stages in a row that do not shorten the total time, or when
  /// the limit exceeds what the migrations could save in all steps.
  void try_limited_migrations() {
    if (!is_within_room_ || !may_spend(kCosts.descent_scans())) return;
    if (far_migration_s_ <= tuning_.same_total * total_s(best_)) return;
    LocalSearch descent = from(problem_.current);
    std::optional<Outcome> shortest;
    int rises = 0;
    for (double limit_s = std::max(cheapest_move_s(), tuning_.tolerance * far_migration_s_);
         limit_s <= most_saved_s() && rises < 2 &&
         may_spend(kCosts.way_back_scans + kCosts.build_scans);
         limit_s *= tuning_.longer_migration) {
      descent.limit_migration(limit_s);
      run(descent, blunt(tuning_));
      run(descent, sharp(tuning_));
      Outcome outcome = outcome_of(problem_, descent.placement());
      if (!shortest || total_s(outcome) < total_s(*shortest)) {
        shortest = std::move(outcome);
        rises = 0;
      } else {
        ++rises;
      }
    }
    if (shortest) take_if_better(std::move(*shortest));
  }

  /// Polishes the best placement by local search that only shortens the time of its busiest place.
  void polish() {
    if (best_.iteration_s <= bound_s_ || !may_spend(kCosts.descent_scans())) return;
    LocalSearch descent = from(best_.placement);
    run(descent, fine(tuning_));
    take_if_better(outcome_of(problem_, descent.placement()));
  }

  /// Runs local search from a new placement with little traffic, unless a partition has been made
  /// before. Does so only if at least half of the remaining budget is then left for perturbations.
  void try_less_traffic() {
    const double shortest_s = std::max(bound_s_, best_.makespan_s) * (1 + tuning_.same_total);
    if (has_partitioned_ || !is_within_room_ || best_.iteration_s <= shortest_s ||
        !may_spend(
            2 * (kCosts.consecutive_scans + kCosts.new_placement_scans + kCosts.descent_scans())))
      return;
    try_from(with_little_traffic(consecutive()).placement);
  }

  /// Perturbs the best placement near its busiest places and searches again, until the budget is
  /// used up or many perturbations in a row have not shortened the total time.
  void try_perturbations() {
    if (best_.iteration_s <= bound_s_ || !is_within_room_ || !may_spend(kCosts.descent_scans()))
      return;
    LocalSearch search = from(best_.placement);
    search.limit_migration(total_s(best_) - steps_ * bound_s_);
    search.start_trials(steps_);
    Random draws(mix(problem_.seed));
    // The total times of equally good placements may differ in their last digits. A walk among such
    // placements may lead to a clearly shorter time, so it is allowed, but its length is limited.
    double shortest_s = search.shortest_s(), clear_s = shortest_s;
    const std::size_t most = max_trials_without_gain();
    for (std::size_t in_vain = 0, walked = 0; in_vain < most && walked < tuning_.trials * most;) {
      const double scans = scans_before_way_back();
      if (scans <= 0) break;
      budget_.spend(search.try_perturbation(draws, sharp(tuning_), scans));
      in_vain = search.shortest_s() < shortest_s ? 0 : in_vain + 1;
      shortest_s = search.shortest_s();
      const bool is_clear = shortest_s < (1 - kRounding) * clear_s;
      walked = is_clear ? 0 : walked + 1;
      if (is_clear) clear_s = shortest_s;
    }
    take_if_better(outcome_of(problem_, search.placement()));
  }

  /// Perturbs the best placement several times and searches again from each result. Returns false
  /// if further passes would not help: the best placement has reached its lower bound, or too many
  /// passes in a row have not improved it.
  bool pass(std::uint64_t number) {
    if (best_.iteration_s <= bound_s_) return false;
    std::vector<std::optional<Outcome>> trials(tuning_.trials);
    in_parallel(trials.size(), options_.threads, [&](std::size_t i) {
      Random draws(mix(problem_.seed + trials.size() * number + i + 1));
      trials[i] = perturbed(draws);
    });
    ++passes_in_vain_;
    for (auto& trial : trials) {
      if (total_s(*trial) >= total_s(best_)) continue;
      best_ = std::move(*trial);
      passes_in_vain_ = 0;
      has_passed_ = true;
    }
    return passes_in_vain_ < tuning_.max_passes_without_gain;
  }

  /// Returns the best placement after undoing the moves that do not pay.
  Placement result() && {
    if (has_passed_) best_ = on_the_way(std::move(best_));
    if (problem_.workload.subphase_rule != SubphaseRule::no_wait)
      take_if_better(outcome_of(problem_, even_in_subphases(best_.placement, problem_, tuning_)));
    if (is_within_room_)
      best_ = without_needless_moves(way_, std::move(best_),
                                     budget_.num_steps(kCosts.trial_scans * entries_ + 1));
    return std::move(best_.placement);
  }

 private:
  double total_s(const Outcome& outcome) const { return outcome.total_s(steps_); }

  LocalSearch from(const Placement& start) {
    budget_.spend(kCosts.build_scans * entries_);
    return LocalSearch(problem_, start, way_.shared, options_.memory_bytes, tuning_);
  }

  bool may_spend(double scans_per_entry) const {
    return budget_.allows(scans_per_entry * entries_);
  }

  /// Runs a stage of local search. It leaves enough of the budget to find out afterwards which
  /// moves should be undone (returns.h).
  void run(LocalSearch& descent, const LocalSearch::Stage& stage) {
    const double scans = scans_before_way_back();
    if (scans > 0) budget_.spend(descent.run(stage, scans));
  }

  /// Allows more perturbations without gain if places may be full: tasks can then only be
  /// exchanged, so most perturbations gain nothing.
  std::size_t max_trials_without_gain() const {
    const bool may_be_full = problem_.workload.capacity.is_limited();
    return std::size_t{tuning_.max_passes_without_gain} * (may_be_full ? tuning_.trials : 1);
  }

  double scans_before_way_back() const { return budget_.left() - kCosts.way_back_scans * entries_; }

  /// Runs local search from `start`. It ends after the first stage if the average busy time is then
  /// at least the iteration time of the best placement: later stages even out busy times, but
  /// hardly lower their average.
  Outcome descended_from(const Placement& start) {
    LocalSearch descent = from(start);
    run(descent, blunt(tuning_));
    if (descent.average_s() < best_.iteration_s) even_out(descent);
    return outcome_of(problem_, descent.placement());
  }

  void descend(LocalSearch& descent) {
    run(descent, blunt(tuning_));
    even_out(descent);
  }

  /// Runs the later stages of a local search, after its first stage.
  void even_out(LocalSearch& descent) {
    if (exceeds(descent.peak_s(), descent.average_s()))
      run(descent, blunt(tuning_));  // repeats the first stage, which may have ended at its limit
                                     // of scans
    run(descent, sharp(tuning_));
  }

  /// Makes a list schedule. It is made before a partition because it takes much less computing
  /// time; a partition may use up the budget.
  void try_schedule() {
    if (!is_within_room_ || !pays() || !may_spend(kCosts.schedule_scans + kCosts.descent_scans()))
      return;
    budget_.spend(kCosts.schedule_scans * entries_);
    scheduled_ = outcome_of(problem_, fitted(schedule_by_finish(problem_, way_.shared->arcs)));
  }

  /// Returns the placement from which the first search starts. Usually that is the current
  /// placement, because local search then needs few migrations. It is another one if two conditions
  /// hold: the current placement is scattered or has about as much traffic as blocks of consecutive
  /// tasks, and the budget does not suffice for two searches, one from the current placement and
  /// one from a placement with little traffic. Then the search starts from the placement with
  /// little traffic or from the best one so far, whichever has the shorter total time. The
  /// placement with little traffic is left out if its migrations would take longer than less
  /// traffic could save.
  Placement first_start() {
    if (!is_within_room_ || !messages_weigh() || !pays() ||
        !may_spend(kCosts.consecutive_scans + kCosts.descent_scans()) ||
        may_spend(full_descent_scans() + kCosts.consecutive_scans + kCosts.new_placement_scans +
                  kCosts.refining_scans + kCosts.descent_scans()) ||
        !(is_scattered(problem_.current) || is_like_blocks()))
      return fitted(problem_.current);
    if (traffic_cannot_pay_) return best_.placement;
    Outcome start = with_little_traffic(consecutive());
    return total_s(start) < total_s(best_) ? start.placement : best_.placement;
  }

  /// The fraction of messages that stay within places.
  double share_inside(const Placement& placement) const {
    double inside = 0, all = 0;
    for (const Message& message : problem_.workload.messages) {
      all += message.count;
      if (placement.of(message.from) == placement.of(message.to)) inside += message.count;
    }
    return all > 0 ? inside / all : 0;
  }

  /// True if messages stay within places at most twice as often as by chance.
  bool is_scattered(const Placement& placement) const {
    return share_inside(placement) * problem_.machine.num_places() <= 2;
  }

  /// True if a partition would probably save more than a search from the current placement: about
  /// as many messages leave their place as in blocks of consecutive tasks, migrations are cheap,
  /// and the partition fits into the budget.
  bool is_like_blocks() const {
    return blocks_ && may_spend(kCosts.new_placement_scans + kCosts.descent_scans()) &&
           longest_migration_s() <= tuning_.tolerance * total_s(best_) &&
           1 - share_inside(problem_.current) >=
               (1 - tuning_.tolerance) * (1 - share_inside(blocks_->placement));
  }

  Outcome consecutive() {
    if (blocks_) return *blocks_;
    budget_.spend(kCosts.consecutive_scans * entries_);
    return outcome_of(problem_, fitted(consecutive_shares(problem_)));
  }

  /// Returns the better of two placements, by total time: `blocks` (blocks of consecutive tasks)
  /// or, if the budget allows, a partition of the tasks (from_scratch.h). The partition is computed
  /// with little effort, because local search follows. If the budget does not suffice for both a
  /// refinement of the partition and a stage of local search, the refinement is left out, because
  /// local search gains more.
  Outcome with_little_traffic(Outcome blocks) {
    if (!may_spend(kCosts.new_placement_scans + kCosts.descent_scans())) return blocks;
    has_partitioned_ = true;
    const bool refines =
        may_spend(kCosts.new_placement_scans + kCosts.refining_scans + kCosts.build_scans +
                  kCosts.way_back_scans + tuning_.scans_per_entry);
    budget_.spend((kCosts.new_placement_scans + (refines ? kCosts.refining_scans : 0)) * entries_);
    Tuning quick = tuning_;
    quick.refining_passes = std::min(refines ? 1 : 0, quick.refining_passes);
    const Effort effort{.attempts = tuning_.attempts, .climbs = 0, .threads = options_.threads};
    Outcome fresh = outcome_of(problem_, fitted(partitioned(effort, quick)));
    return total_s(blocks) < total_s(fresh) ? blocks : fresh;
  }

  /// Places all tasks anew, by a partition. If the graph is large, frees the arcs meanwhile,
  /// because the coarse graphs take about as much memory; makes the arcs again from the messages
  /// afterwards.
  Placement partitioned(const Effort& effort, const Tuning& tuning) {
    std::optional graph(traffic_graph(problem_, way_.shared->arcs));
    if (entries_ <= tuning.cached_entries)
      return placed_from_scratch(problem_, *graph, effort, tuning);
    way_.shared.reset();
    return_freed_memory();
    Placement placement = placed_from_scratch(problem_, *graph, effort, tuning);
    graph.reset();
    return_freed_memory();
    way_.shared = std::make_shared<const BusyTimes::Shared>(problem_.machine, problem_.workload,
                                                            problem_.costs);
    return placement;
  }

  /// The scans per entry (task, arc or place) within which nearly every descend() ends: the maximum
  /// numbers of scans of its three stages, and about as many again for moves and refreshes.
  double full_descent_scans() const {
    return kCosts.build_scans + kCosts.way_back_scans + 2 * 3 * tuning_.scans_per_entry;
  }

  /// An upper limit for the time that migrations can save: what all `steps_` iterations together
  /// would save if each took no longer than its lower bound.
  double most_saved_s() const { return steps_ * (way_.current.iteration_s - bound_s_); }

  /// The longest time that a place takes to pack all of its tasks.
  double longest_migration_s() const {
    std::vector<double> packing(problem_.machine.num_places(), 0);
    for (TaskId t = 0; t < problem_.workload.num_tasks(); ++t)
      packing[problem_.current.of(t)] += packing_s(problem_.costs, problem_.workload.tasks[t]);
    return *std::max_element(packing.begin(), packing.end());
  }

  double cheapest_move_s() const {
    double least_s = std::numeric_limits<double>::infinity();
    for (const Task& task : problem_.workload.tasks)
      if (task.movable) least_s = std::min(least_s, packing_s(problem_.costs, task));
    return least_s;
  }

  Outcome perturbed(Random& draws) const {
    LocalSearch descent(problem_, best_.placement, way_.shared, options_.memory_bytes, tuning_);
    descent.perturb(draws);
    descent.run(sharp(tuning_), std::numeric_limits<double>::max());
    return outcome_of(problem_, descent.placement());
  }

  /// Undoes the moves that cost more than they save. Keeps all moves if the current placement
  /// exceeds memory or capacity.
  Outcome on_the_way(Outcome far) {
    if (!is_within_room_) return far;
    budget_.spend(kCosts.way_back_scans * entries_);
    return best_on_the_way(way_, far, tuning_.same_total);
  }

  /// Makes `other` the best outcome if its total time is shorter, or if its total time is nearly
  /// equal and it moves fewer bytes. First undoes those moves of `other` that do not pay. If the
  /// iterations of `other` alone take longer than the best total time, drops `other` at once,
  /// because undoing moves seldom shortens the iterations.
  void take_if_better(Outcome other) {
    if (steps_ * other.iteration_s > (1 + tuning_.same_total) * total_s(best_)) return;
    other = on_the_way(std::move(other));
    const double other_s = total_s(other), best_s = total_s(best_);
    const bool is_same = std::abs(other_s - best_s) <= tuning_.same_total * best_s;
    if (is_same ? other.migrated_bytes < best_.migrated_bytes : other_s < best_s)
      best_ = std::move(other);
  }

  void take_if_shorter(Outcome other) {
    if (total_s(other) < total_s(best_)) best_ = std::move(other);
  }

  Placement fitted(const Placement& wanted) const {
    return within_room(problem_, wanted, options_.memory_bytes);
  }

  bool exceeds(double time_s, double ideal_s) const {
    return time_s > (1 + tuning_.tolerance) * ideal_s;
  }

  bool messages_weigh() const { return exceeds(best_.iteration_s, best_.makespan_s); }

  bool pays() const { return exceeds(best_.iteration_s, bound_s_); }

  void try_from(const Placement& start) { take_if_better(descended_from(start)); }

  const Problem& problem_;
  const PoiseOptions& options_;
  const Tuning& tuning_;
  const double steps_;  // number of phases in which migrations must pay off
  Way way_;
  const bool is_within_room_;
  const double bound_s_;
  Outcome best_;
  const double entries_;  // number of tasks + directed communicating pairs + places
  ScanBudget budget_;
  std::optional<Outcome> blocks_;     // of consecutive tasks
  std::optional<Outcome> scheduled_;  // a list schedule, from which no search has started yet
  // The migration time of the placement that the first local search found.
  double far_migration_s_ = 0;
  // True if, after try_few_moves(), a new placement with less traffic will hardly pay off: even if
  // it lowered the average busy time to the lower bound, its additional migrations might take at
  // least as long as the time saved in all steps together.
  bool traffic_cannot_pay_ = false;
  bool has_partitioned_ = false;  // a partition has been tried as a starting placement
  unsigned passes_in_vain_ = 0;
  // True if the best placement is from a pass (a series of perturbations). In that case, the moves
  // that do not pay have not been undone yet.
  bool has_passed_ = false;
};

Placement all_placed_anew(const PoiseOptions& options, const Problem& problem) {
  if (options.passes > 0 || options.budget_s > 0)
    fail(
        "strategy poise: if from_scratch is 1, the knobs \"passes\" and \"budget_s\" have no "
        "effect; leave both out");
  return within_room(problem,
                     placed_from_scratch(problem,
                                         {.attempts = options.tuning.attempts,
                                          .climbs = options.tuning.climbs,
                                          .threads = options.threads},
                                         options.tuning),
                     options.memory_bytes);
}

}  // namespace

Placement poise_strategy(const Problem& problem, const PoiseOptions& options) {
  if (options.from_scratch) return all_placed_anew(options, problem);
  // No other strategy reads a clock; this one does so only if a time budget is given.
  const double end_s = wall_now_s() + options.budget_s;
  Search search(problem, options);
  search.try_blocks();
  search.try_few_moves();
  search.try_first_start();
  if (search.migration_weighs()) {
    search.try_limited_migrations();
    search.try_other_starts();
  } else {
    search.try_other_starts();
    search.try_limited_migrations();
  }
  search.polish();
  search.try_less_traffic();
  search.try_perturbations();
  bool goes_on = true;
  std::uint64_t number = 0;
  for (; goes_on && number < options.passes; ++number) goes_on = search.pass(number);
  if (options.budget_s > 0)
    for (; goes_on && wall_now_s() < end_s; ++number) goes_on = search.pass(number);
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
