// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/consecutive_shares.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "poise/placement/fair_shares.h"
#include "poise/placement/metrics.h"

namespace poise {

namespace {

/// Number of steps of the bisection that finds the shortest time in which the places can do all
/// work. The first interval is as long as the longest task takes on the slowest place. Each step
/// halves the interval, so the last interval is about 1/1000 of the first.
constexpr int kHalvings = 10;

/// Searches for the cuts between blocks of consecutive movable tasks. A cut is the index of the
/// first task of a block, counted among the movable tasks.
class Cuts {
 public:
  explicit Cuts(const Problem& problem)
      : machine_(problem.machine),
        shares_(fair_shares(problem.machine, problem.workload, problem.current)),
        fixed_s_(fixed_work_s(problem.machine, problem.workload, problem.current)) {
    for (const Task& task : problem.workload.tasks) {
      if (!task.movable) continue;
      before_.push_back(before_.back() + task.load_s);
      longest_s_ = std::max(longest_s_, task.load_s);
    }
  }

  /// Returns the first task of the block of each place.
  std::vector<std::size_t> best() const {
    // If each place may exceed its fair share by the longest task, all tasks find a place: a place
    // has no room for the next task only if the place has at least its fair share already.
    double low_s = fair_s(), high_s = low_s + longest_s_ / least_speed();
    for (int i = 0; i < kHalvings; ++i) {
      const double middle_s = (low_s + high_s) / 2;
      (fits(middle_s) ? high_s : low_s) = middle_s;
    }
    return nearest_to_shares(high_s);
  }

 private:
  std::size_t num_tasks() const { return before_.size() - 1; }

  double least_speed() const {
    double least = machine_.speed_of(0);
    for (PlaceId p = 1; p < machine_.num_places(); ++p)
      least = std::min(least, machine_.speed_of(p));
    return least;
  }

  /// Returns how long the busiest place works if each place gets exactly its fair share.
  double fair_s() const {
    double longest_s = 0;
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      if (shares_[p] > 0)
        longest_s =
            std::max(longest_s, fixed_s_[p] + shares_[p] * before_.back() / machine_.speed_of(p));
    return longest_s;
  }

  /// Returns the load that place p can take if it works for at most limit_s seconds.
  double room_s(PlaceId p, double limit_s) const {
    return std::max(0.0, limit_s - fixed_s_[p]) * machine_.speed_of(p);
  }

  /// Returns the last possible end of a block of place p that begins at task `first`. Blocks are
  /// short, so the search looks at near tasks first.
  std::size_t last_end(std::size_t first, PlaceId p, double limit_s) const {
    const double most_s = before_[first] + room_s(p, limit_s);
    std::size_t step = 1;
    while (first + step <= num_tasks() && before_[first + step] <= most_s) step *= 2;
    const auto last = before_.begin() + std::min(first + step, num_tasks()) + 1;
    return std::upper_bound(before_.begin() + first, last, most_s) - before_.begin() - 1;
  }

  bool fits(double limit_s) const {
    std::size_t cut = 0;
    for (PlaceId p = 0; p < machine_.num_places() && cut < num_tasks(); ++p)
      cut = last_end(cut, p, limit_s);
    return cut == num_tasks();
  }

  /// Returns for each place the earliest possible first task of its block. With an earlier cut,
  /// this place and those after it could not do the remaining work within the limit.
  std::vector<std::size_t> earliest(double limit_s) const {
    std::vector<std::size_t> cuts(machine_.num_places() + std::size_t{1}, num_tasks());
    for (PlaceId p = machine_.num_places(); p-- > 0;) {
      const double least_s = before_[cuts[p + 1]] - room_s(p, limit_s);
      cuts[p] = std::lower_bound(before_.begin(), before_.begin() + cuts[p + 1], least_s) -
                before_.begin();
    }
    return cuts;
  }

  /// Cuts at the ends of the fair shares if each place can then finish within limit_s, otherwise as
  /// near to these ends as possible.
  std::vector<std::size_t> nearest_to_shares(double limit_s) const {
    std::vector<std::size_t> cuts = earliest(limit_s);
    cuts[0] = 0;
    double shared_s = 0;
    for (PlaceId p = 0; p + 1 < machine_.num_places(); ++p) {
      shared_s += shares_[p] * before_.back();
      const std::size_t least = std::max(cuts[p], cuts[p + 1]);
      const std::size_t most = std::max(least, last_end(cuts[p], p, limit_s));
      cuts[p + 1] = std::clamp(nearest_cut(shared_s), least, most);
    }
    return cuts;
  }

  /// Returns the cut whose preceding tasks have a total load nearest to load_s.
  std::size_t nearest_cut(double load_s) const {
    const std::size_t after =
        std::upper_bound(before_.begin(), before_.end(), load_s) - before_.begin();
    if (after > num_tasks()) return num_tasks();
    const double middle_s = (before_[after - 1] + before_[after]) / 2;
    return middle_s <= load_s ? after : after - 1;
  }

  const Machine& machine_;
  const std::vector<double> shares_, fixed_s_;
  std::vector<double> before_{0};  // before_[i]: total load of the first i movable tasks
  double longest_s_ = 0;
};

}  // namespace

Placement consecutive_shares(const Problem& problem) {
  const std::vector<std::size_t> cuts = Cuts(problem).best();
  Placement placement = problem.current;
  PlaceId place = 0;
  std::size_t index = 0;  // index of task t among the movable tasks
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    if (!problem.workload.tasks[t].movable) continue;
    while (place + 1 < problem.machine.num_places() && index >= cuts[place + 1]) ++place;
    placement.move(t, place);
    ++index;
  }
  return placement;
}

}  // namespace poise
