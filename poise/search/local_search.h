// Local search on the predicted iteration: places that are busier than most hand tasks on.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/placement/busy_times.h"
#include "poise/placement/least_busy.h"
#include "poise/placement/memory_room.h"
#include "poise/placement/problem.h"
#include "poise/search/surroundings.h"
#include "poise/search/tuning.h"

namespace poise {

/// Descends on the potential: the sum over places of (busy / scale)^exponent.
///
/// With a large exponent the potential is the busiest place and nothing else, and most moves leave
/// it where it is; with a small one it is all the work there is. In between, a move that brings the
/// second busiest place down is worth something too, so that plateaus slope.
class LocalSearch {
 public:
  /// From `start`; home is the problem's current placement. Nothing moves to where memory has no
  /// room (memory_room.h).
  LocalSearch(const Problem& problem, const Placement& start, std::uint64_t place_cap_bytes,
              const Tuning& tuning = kTuning);

  struct Stage {
    int exponent;
    double floor;       // only places busier than this part of the busiest hand on
    double least_gain;  // a step gains this part of its place's potential, at least
    bool swaps;         // exchanges are tried where no move helps
    double visits;      // steps end after so many visits to a place, on average,
    double looks;       // or so many looks per task and arc, no shape of graph taking much longer,
    std::uint64_t max_looks;  // or in all: a million tasks take seconds
  };

  /// Steps until none gains.
  void run(const Stage& stage);

  /// Moves a few tasks of one of the busiest places, and of those they go to, to places of tasks
  /// that they talk to or to places drawn at random.
  void perturb(Random& random);

  /// Returns tasks home where that worsens neither the busiest place nor the traffic.
  void send_home();

  double peak_s() const;
  double average_s() const;
  Placement placement() const { return Placement(times_.places()); }

 private:
  struct Step {
    double change;
    TaskId task, partner;
    PlaceId to;
  };

  double potential(double busy_s) const;
  std::uint64_t looks() const { return around_.looks() + looks_of_swaps_; }
  double change_of_move(PlaceId to);
  double change_of_trial() const;
  void try_moves(TaskId t, double limit);
  void gather_destinations(TaskId t, PlaceId from);
  void gather_places_near(PlaceId p);
  void gather_near_nodes(PlaceId p);
  void gather_pulls(PlaceId p, double limit);
  void gather_moves(PlaceId p, double limit);
  const std::vector<std::pair<double, TaskId>>& tasks_by_load(PlaceId p);
  void gather_swaps(PlaceId p, double limit);
  bool improve(PlaceId p, const Stage& stage);
  void relocate(TaskId t, PlaceId to);
  PlaceId one_of_the_busiest(Random& random) const;
  void open(PlaceId p);

  const Machine& machine_;
  const Workload& workload_;
  const Placement& home_;
  const Tuning tuning_;
  BusyTimes times_;
  Surroundings around_;
  MemoryRoom room_;
  std::vector<double> potential_of_;  // per place, for the present exponent and scale
  LeastBusy least_busy_;
  std::vector<std::vector<TaskId>> tasks_at_;  // the movable ones

  std::uint64_t looks_of_swaps_ = 0;
  int exponent_ = 1;
  double scale_s_ = 1, per_scale_ = 1;
  std::vector<PlaceId> destinations_, near_;
  std::map<NodeId, std::vector<NodeId>> near_nodes_;  // of the nodes asked for
  std::vector<std::pair<TaskId, double>> pulls_;      // who sends to the place, seconds
  std::map<PlaceId, std::vector<std::pair<double, TaskId>>> by_load_;
  std::vector<Step> steps_;
  std::priority_queue<std::pair<double, PlaceId>> queue_;
  std::vector<bool> is_open_;
};

}  // namespace poise
