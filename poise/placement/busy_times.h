// The predicted busy time of every place, updated as tasks move.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/factor_table.h"
#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Incremental form of Metrics::iteration_s: busy(p) = background + loads / speed + messages
/// received. Construction costs O(tasks + messages); trying or making a move costs O(neighbours of
/// the task).
class BusyTimes {
 public:
  /// What task t exchanges with another task, in seconds at factor 1.
  struct Arc {
    TaskId task;
    double in_s, out_s;            // cost by number of messages: received from it, sent to it
    double in_byte_s, out_byte_s;  // cost by bytes, likewise
  };

  /// Result of trying a move: the peak among the places that it changes, and the change of all
  /// traffic.
  struct Effect {
    double peak_s = 0;
    double traffic_s = 0;
  };

  BusyTimes(const Machine& machine, const Workload& workload, const CostModel& costs,
            const Placement& placement);

  double busy_s(PlaceId p) const { return busy_s_[p]; }
  PlaceId place_of(TaskId t) const { return places_[t]; }
  const std::vector<PlaceId>& places() const { return places_; }
  std::span<const Arc> arcs_of(TaskId t) const {
    return {arcs_.data() + first_arc_[t], first_arc_[t + 1] - first_arc_[t]};
  }

  /// Of all tasks together.
  std::size_t num_arcs() const { return arcs_.size(); }

  /// The effect of moving t to `to`. Changes nothing.
  Effect try_move(TaskId t, PlaceId to);
  /// The effect of exchanging the places of t and u. Changes nothing.
  Effect try_swap(TaskId t, TaskId u);
  void move(TaskId t, PlaceId to);
  /// The places whose busy time the last move or trial changed or would have changed.
  std::span<const PlaceId> touched() const { return touched_; }
  double change_s(PlaceId p) const { return is_touched_[p] ? change_s_[p] : 0; }

  /// Cost at `to` of receiving, from `from`, messages that cost these seconds at factor 1.
  double cost_s(double messages_s, double bytes_s, PlaceId from, PlaceId to) const {
    double seconds = messages_s == 0 ? 0 : messages_s * factors_.message(from, to);
    if (counts_bytes_ && bytes_s != 0) seconds += bytes_s * factors_.byte(from, to);
    return seconds;
  }

  /// True if messages inside a domain always have factor 1, in number and in bytes.
  bool is_flat_inside() const { return factors_.is_flat_inside(); }

  /// Seconds that t's messages would cost at its own place and at its neighbours', were it at `at`.
  double traffic_s(TaskId t, PlaceId at) const;

 private:
  void build_arcs();
  void add_change(PlaceId p, double seconds);
  void clear_changes();
  double collect(TaskId t, PlaceId to);
  Effect effect(double traffic_s) const;

  const Machine& machine_;
  const Workload& workload_;
  CostModel costs_;
  FactorTable factors_;
  bool counts_bytes_;
  std::vector<PlaceId> places_;
  std::vector<double> busy_s_;
  std::vector<std::size_t> first_arc_;
  std::vector<Arc> arcs_;
  std::vector<double> change_s_;
  std::vector<bool> is_touched_;
  std::vector<PlaceId> touched_;
};

}  // namespace poise
