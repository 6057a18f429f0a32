// SPDX-License-Identifier: BSD-3-Clause
// Local search that lowers the predicted iteration time: the busiest places give tasks away.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/placement/busy_times.h"
#include "poise/placement/least_busy.h"
#include "poise/placement/migration_times.h"
#include "poise/placement/problem.h"
#include "poise/placement/room.h"
#include "poise/search/surroundings.h"
#include "poise/search/tuning.h"

namespace poise {

/// Moves tasks step by step to lower the potential (p-norm descent): the sum of weight * (busy /
/// scale)^exponent over places, which have weight 1, and shared resources.
///
/// With a large exponent only the busiest place counts, and most moves do not change the potential.
/// With a small exponent all work counts alike. With a medium exponent, unloading the second
/// busiest place also gains, so the search does not stop on plateaus.
class LocalSearch {
 public:
  /// Starts from `start`. A task's home is its place in the problem's current placement. No task
  /// moves to a place without room for it (room.h). `shared` must be made from the same problem.
  LocalSearch(const Problem& problem, const Placement& start,
              std::shared_ptr<const BusyTimes::Shared> shared, std::uint64_t place_cap_bytes,
              const Tuning& tuning = kTuning);

  struct Stage {
    /// Exponent of busy times in the sum that local search lowers (the potential). A place gives
    /// tasks away only if its busy time exceeds (1 - 1 / exponent) * the longest busy time.
    int exponent;
    bool swaps;  // try exchanges if no move has a gain
  };

  /// After this call, moves are rejected if the migration from the home places would take longer
  /// than `limit_s` (MigrationTimes). O(tasks).
  void limit_migration(double limit_s);

  /// After this call, the placement with the shortest total time is remembered. The total time is
  /// `steps` times the largest busy time plus the migration time. Call limit_migration() before.
  void remember_shortest(double steps);

  /// Makes moves and exchanges until none has a gain, or until the number of scans (tasks and arcs
  /// examined) reaches `max_scans` or Tuning's limit for a stage (min_scans, scans_per_entry,
  /// max_scans). Returns the number of scans.
  double run(const Stage& stage, double max_scans);

  /// Moves a few tasks away from one of the busiest places. Then moves other tasks away from the
  /// places that have received these few tasks. Destinations are the places of communication
  /// partners or random places.
  void perturb(Random& random);

  /// Prepares try_perturbation(). limit_migration() must be called before. `steps`: see
  /// remember_shortest().
  void start_trials(double steps);

  /// Perturbs the placement and searches again from there. If the total time has not become
  /// shorter, all tasks return to where they were before. Returns the number of scans (tasks and
  /// arcs examined).
  double try_perturbation(Random& random, const Stage& stage, double max_scans);
  /// The shortest total time so far.
  double shortest_s() const { return shortest_s_; }

  double peak_s() const;
  double average_s() const;
  Placement placement() const { return Placement(times_.places()); }
  /// The placement with the shortest total time so far. O(tasks + steps since that placement).
  Placement shortest() const;

 private:
  struct Step {
    double change;
    TaskId task, partner;
    PlaceId to;
    /// The change of the potential divided by the potential of the visited place, as of the last
    /// evaluation of this step.
    double worth = 0;
    std::uint64_t num_before = 0;  // number of steps carried out before this one was evaluated
  };

  double power(double busy_s) const;
  double potential(SpotId spot, double busy_s) const { return times_.weight(spot) * power(busy_s); }
  std::uint64_t scans() const { return around_.scans() + scans_of_swaps_; }
  std::uint64_t all_scans() const { return scans() + scans_of_moves_; }
  bool can_move(TaskId t, PlaceId to) {
    return room_.fits(t, to) && (!moved_ || moved_->fits(t, to, migration_limit_s_));
  }
  bool can_exchange(TaskId t, TaskId u) {
    return room_.fits_exchange(t, u) &&
           (!moved_ || moved_->fits_exchange(t, u, migration_limit_s_));
  }
  void note_total(double peak_s);
  double total_s();
  double change_of_trial() const;
  double change_of_exchange(TaskId t, TaskId u);
  void try_moves(TaskId t, double limit);
  void gather_destinations(TaskId t, PlaceId from);
  void gather_places_near(PlaceId p);
  void gather_near_nodes(PlaceId p);
  void gather_pull(TaskId t, PlaceId p);
  void gather_pulls(PlaceId p, double limit);
  void gather_moves(PlaceId p, double limit);
  const std::vector<std::pair<double, TaskId>>& tasks_by_load(PlaceId p);
  void relist(TaskId t, PlaceId from, PlaceId to);
  std::span<const std::pair<double, TaskId>> partners_at(PlaceId to, TaskId t);
  void gather_swaps(PlaceId p, double limit);
  void refresh();
  double begin();
  bool improve(PlaceId p, const Stage& stage);
  void take(const Step& step);
  bool evaluate_anew(Step step, PlaceId p, double limit);
  void relocate(TaskId t, PlaceId to);
  PlaceId one_of_the_busiest(Random& random) const;
  void open(PlaceId p);

  const Machine& machine_;
  const Problem& problem_;
  const Workload& workload_;
  const Placement& home_;
  const Tuning tuning_;
  BusyTimes times_;
  Surroundings around_;
  Room room_;
  std::optional<MigrationTimes> moved_;  // empty: the migration time is not limited
  double migration_limit_s_ = 0;
  double steps_to_pay_ = 0;  // iterations in the total time; 0: the total time is not tracked
  /// True during try_perturbation(), which compares the total time only at its end.
  bool is_trial_ = false;
  double shortest_s_ = 0;               // shortest total time so far
  std::vector<Migration> moves_since_;  // moves since the total time was shortest
  std::vector<double> potential_of_;    // potential of each place at the current exponent and scale
  LeastBusy least_busy_;
  std::vector<std::vector<TaskId>> tasks_at_, pinned_at_;  // per place: movable and other tasks

  std::vector<std::vector<Step>> kept_steps_;  // steps to evaluate again; a heap per place

  std::vector<std::size_t> next_task_;  // per place: index in tasks_at_ of the task to examine next

  std::uint64_t scans_of_swaps_ = 0, num_steps_ = 0;
  /// Scans that moves and refresh() need. They count towards the argument `max_scans` of run(), but
  /// not towards Tuning's limit for a stage.
  std::uint64_t scans_of_moves_ = 0;
  int exponent_ = 1;
  double scale_s_ = 1, per_scale_ = 1;
  std::vector<PlaceId> destinations_, near_;
  std::vector<double> bounds_;                        // per destination
  std::map<NodeId, std::vector<NodeId>> near_nodes_;  // filled on demand
  std::vector<std::pair<TaskId, double>> pulls_;  // tasks that send messages to the visited place,
                                                  // and the seconds saved if they move there
  /// Per place, the tasks of tasks_at_ with their loads, in ascending order of load; empty until
  /// needed.
  std::vector<std::vector<std::pair<double, TaskId>>> by_load_;
  std::vector<Step> steps_;
  std::priority_queue<std::pair<double, PlaceId>> queue_;
  std::vector<bool> is_open_;
};

}  // namespace poise
