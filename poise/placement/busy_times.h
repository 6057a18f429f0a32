// SPDX-License-Identifier: BSD-3-Clause
// The predicted busy time of every place and shared resource, updated as tasks move.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/resources.h"
#include "poise/placement/arcs.h"
#include "poise/placement/latencies.h"
#include "poise/placement/pair_costs.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Index of a spot, which is a place or a shared resource. Resource r is spot num_places + r.
using SpotId = std::uint32_t;

/// Incremental form of Metrics::iteration_s for a phase without subphases: it counts the total load
/// of each task. Construction costs O(tasks + messages); trying or making a move costs O(neighbours
/// of the task).
///
/// Formula `nuco`: only places have busy times, shared resources have none. The busy time of a
/// place is background + loads / speed + messages received.
///
/// Formula `physical`, with the symbols of message_times.h: the busy time of a place is W + O + (1
/// - overlap) * X. The busy time of a resource is T + (1 - overlap) * A, where A is the largest W +
/// O of the places whose messages cross it. W, O and T are updated by every move. X and A depend on
/// all places, so only refresh() computes them. Directly after refresh(), the predicted iteration
/// time is the largest busy time or, if longer, the largest X. Until the next refresh(), X of a
/// place can only increase, namely when a task arrives whose messages cross a slower resource.
class BusyTimes {
 public:
  /// Result of trying a move: the largest busy time among the places and resources that the move
  /// affects, and the change of the seconds that messages cost, summed over all places.
  struct Effect {
    double peak_s = 0;
    double traffic_s = 0;
  };

  /// Data that do not depend on the placement: several objects for the same problem may share them.
  struct Shared {
    Shared(const Machine& machine, const Workload& workload, const CostModel& model);
    Arcs arcs;
    PairCosts costs;
  };

  /// `shared` must have been made from the same machine, workload and costs. If it is null, the
  /// constructor makes it.
  BusyTimes(const Machine& machine, const Workload& workload, const CostModel& costs,
            const Placement& placement, std::shared_ptr<const Shared> shared = nullptr);

  SpotId num_spots() const { return busy_s_.size(); }
  double busy_s(SpotId spot) const { return busy_s_[spot]; }
  /// The largest busy time of all places and shared resources. O(places + resources).
  double peak_s() const;
  /// The busy time of the place or, if longer, X: the time for which the place waits for messages.
  double pressure_s(PlaceId p) const {
    return exposed_s_.empty() ? busy_s_[p] : std::max(busy_s_[p], exposed_s_[p]);
  }
  /// X of the place: the seconds for which it waits for messages (shared resources and latency), as
  /// of the last refresh(), plus increases since then. It is 0 under the formula `nuco`.
  double exposed_s(PlaceId p) const { return exposed_s_.empty() ? 0 : exposed_s_[p]; }
  /// T of a resource: the seconds for which messages occupy it.
  double resource_s(ResourceId r) const {
    const SpotId spot = machine_.num_places() + r;
    return busy_s_[spot] - offset_s_[spot];
  }
  /// The slowest resource that messages of the place crossed at the last refresh(), given as a
  /// SpotId; 0 if they crossed none.
  SpotId slowest_resource(PlaceId p) const { return held_by_.empty() ? 0 : held_by_[p]; }
  /// The weight of a spot (a place or a shared resource) in the sum of busy times that strategies
  /// minimise. A place has weight 1. The weight of a resource is about the number of places that
  /// waited for it at the last refresh() and were as busy as the busiest place.
  double weight(SpotId spot) const { return weight_.empty() ? 1 : weight_[spot]; }
  /// The fraction of the waiting time X that adds to the busy time of a place.
  double share_exposed() const { return 1 - workload_.overlap; }
  PlaceId place_of(TaskId t) const { return places_[t]; }
  const std::vector<PlaceId>& places() const { return places_; }
  Arcs::Row arcs_of(TaskId t) const { return shared_->arcs.of(t); }
  const PairCosts& costs() const { return costs_; }
  /// The shared resources; none under the formula `nuco`.
  const std::optional<Resources>& resources() const { return resources_; }

  /// Number of communication partners, summed over all tasks.
  std::size_t num_arcs() const { return shared_->arcs.count(); }

  /// Lower bound on the busy time of place `to` if task t moved there. Faster than try_move().
  double least_busy_s(TaskId t, PlaceId to) const;
  /// Returns the effect of moving task t to place `to`, without changing anything.
  Effect try_move(TaskId t, PlaceId to);
  /// Returns the effect of exchanging the places of tasks t and u, without changing anything.
  Effect try_swap(TaskId t, TaskId u);
  void move(TaskId t, PlaceId to);
  /// To be called directly after a trial: returns a lower bound on the iteration time after the
  /// tried move or exchange. It is at least the largest of the times W + O of the places and T of
  /// the resources that the trial affects (for W, O and T see the top of this class).
  double least_iteration_s() const;
  /// The places and shared resources whose busy time the last move changed or, after a trial, the
  /// tried move would change.
  std::span<const SpotId> touched() const { return touched_; }
  double change_s(SpotId spot) const { return changes_[spot].seconds; }

  /// Computes the times X and A (see the top of this class) if a task has moved since the last
  /// refresh(). Computes the weights of spots in the sum of (busy time)^`exponent` over all spots,
  /// which strategies minimise. O(messages + spots), or O(spots) if no task has moved. Does nothing
  /// under the formula `nuco`.
  void refresh(int exponent = 1);

  /// Seconds that the messages of task t would cost if t were at place `at`: the sum over both ends
  /// of each message.
  double traffic_s(TaskId t, PlaceId at) const;

 private:
  /// Number of tasks, arcs and places.
  std::size_t num_entries() const {
    return workload_.num_tasks() + num_arcs() + machine_.num_places();
  }
  /// The change of a spot's busy time by a move or an exchange.
  struct Change {
    double seconds = 0;
    bool is_touched = false;
    bool is_reached = false;  // messages of the task whose move is collected will cross the spot
  };

  void wait_for_resources();
  void weigh(int exponent);
  Change& add_change(SpotId spot, double seconds);
  void add_crossings(const Arc& arc, PlaceId own, PlaceId other, double sign);
  void clear_changes();
  double collect(TaskId t, PlaceId to);
  double slowest_s(const Arc& arc, PlaceId own, PlaceId other) const;
  void find_rise(PlaceId to);
  void raise(PlaceId p, double exposed_s);
  Effect effect(double traffic_s) const;

  const Machine& machine_;
  const Workload& workload_;
  CostModel model_;
  std::shared_ptr<const Shared> shared_;
  const PairCosts& costs_;
  std::optional<Resources> resources_;
  std::optional<Latencies> latencies_;  // none under the formula `nuco`
  std::vector<PlaceId> places_;
  bool has_moved_ = true;       // a task has moved since the last refresh()
  std::vector<double> busy_s_;  // per spot
  /// For each place and resource, the part of busy_s_ that is due to X or A (see the top of this
  /// class). Empty under the formula `nuco`.
  std::vector<double> offset_s_;
  std::vector<double> exposed_s_;  // for each place its waiting time X; empty for formula `nuco`
  std::vector<SpotId> held_by_;    // for each place its slowest resource; empty for formula `nuco`
  std::vector<double> weight_;     // for each spot its weight; empty for formula `nuco`
  std::vector<Change> changes_;    // per spot
  std::vector<SpotId> touched_;
  // The move that try_move() tried last. Empty if an exchange was tried, a task was moved, or
  // refresh() was called since then.
  std::optional<Migration> tried_;
  double rise_s_ = 0;  // increase of X of the task's new place, in the move tried or made last
  // For each arc of the task that moved last, the busy time of the slowest resource that its
  // messages cross.
  std::vector<double> reached_s_;
};

}  // namespace poise
