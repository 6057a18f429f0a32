// A task and the places it talks to: what trying it at many places needs, gathered once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/placement/busy_times.h"
#include "poise/strategies/strategy.h"

namespace poise {

/// What one task exchanges with each place, summed over the tasks there.
///
/// Gathering costs O(neighbours); each place tried then O(places talked to).
class Surroundings {
 public:
  struct Near {
    PlaceId place;
    double in_s, out_s, in_byte_s, out_byte_s;  // as BusyTimes::Arc
  };
  /// How busy a place would become.
  struct Outcome {
    PlaceId place;
    double busy_s;
  };

  Surroundings(const Problem& problem, const BusyTimes& times);

  /// Turns to t where it is now.
  void gather(TaskId t);

  PlaceId from() const { return from_; }
  std::span<const Near> places() const { return near_; }
  /// The seconds that t takes from its place by going.
  double relief_s() const { return relief_s_; }

  /// What moving t to `to` makes of the place it leaves (first), of `to` (second), and of all whose
  /// messages change. Valid until the next call.
  std::span<const Outcome> try_at(PlaceId to);

  /// How busy `to` would become at least if all that t exchanges came for free: O(1).
  double least_busy_s(PlaceId to) const { return times_.busy_s(to) + load_s_ / speed_[to]; }

 private:
  const Workload& workload_;
  const BusyTimes& times_;
  std::vector<double> speed_;           // per place
  std::vector<std::uint32_t> slot_of_;  // per place: its entry in near_, or kNone
  std::vector<Near> near_;
  std::vector<Outcome> outcomes_;
  PlaceId from_ = 0;
  double load_s_ = 0, relief_s_ = 0;
};

}  // namespace poise
