// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/load_cap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "poise/placement/least_busy.h"
#include "poise/placement/metrics.h"

namespace poise {

double load_cap_s(const Problem& problem, double max_imbalance) {
  return std::max(max_imbalance * average_s(problem.machine, problem.workload),
                  makespan_bound_s(problem.machine, problem.workload, problem.current));
}

std::vector<double> shares_under_cap(const Problem& problem, double cap_s, double tolerance) {
  const std::vector<double>& background_s = problem.workload.background_s;
  std::vector<double> shares(problem.machine.num_places());
  for (PlaceId p = 0; p < shares.size(); ++p) {
    const double room_s = cap_s - (background_s.empty() ? 0 : background_s[p]);
    shares[p] = std::max(0.0, room_s) * problem.machine.speed_of(p) / (1 + tolerance);
  }
  const bool is_full = std::all_of(shares.begin(), shares.end(), [](double s) { return s == 0; });
  if (is_full) shares.assign(shares.size(), 1);
  return shares;
}

namespace graphs {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1 + 1e-12;
constexpr double kWorthwhile = 1 - 1e-6;

struct Range {
  PlaceId first, last;
};

/// The groups of places that contain a given place, from the finest level to the whole machine.
class EnclosingGroups {
 public:
  explicit EnclosingGroups(const Machine& machine) {
    for (std::size_t l = machine.levels().size(); l-- > 0;)
      if (machine.levels()[l].num_groups() < machine.num_places())
        add(machine.levels()[l].first_place);
    add_rows(machine);
    add({0, machine.num_places()});
  }

  std::size_t size() const { return borders_.size(); }

  Range of(PlaceId p, std::size_t i) const {
    const auto next = std::upper_bound(borders_[i].begin(), borders_[i].end(), p);
    return {*(next - 1), *next};
  }

 private:
  void add(std::vector<PlaceId> borders) {
    if (borders_.empty() || borders.size() < borders_.back().size())
      borders_.push_back(std::move(borders));
  }

  /// Adds groups of places that are not levels of the machine: the rows and planes of a torus or
  /// mesh, or the groups of a dragonfly. Adds none if the machine lists a router for each node,
  /// because nodes with consecutive numbers need not be neighbours then.
  void add_rows(const Machine& machine) {
    const Network& network = machine.network();
    if (network.dims.empty() || !network.router_of_node.empty()) return;
    std::uint32_t nodes = network.nodes_per_router;
    for (std::size_t d = network.dims.size(); d-- > 1;) {
      nodes *= network.dims[d];
      std::vector<PlaceId> borders;
      for (NodeId n = 0; n < machine.num_nodes(); n += nodes)
        borders.push_back(machine.first_place(machine.first_domain(n)));
      borders.push_back(machine.num_places());
      add(std::move(borders));
    }
  }

  std::vector<std::vector<PlaceId>> borders_;
};

class LoadCap {
 public:
  LoadCap(const Problem& problem, const Graph& graph, double cap_s, const Tuning& tuning,
          Placement& placement)
      : machine_(problem.machine),
        tasks_(problem.workload.tasks),
        graph_(graph),
        cap_s_(cap_s * kRounding),
        tuning_(tuning),
        placement_(placement),
        groups_(machine_),
        busy_s_(fixed_work_s(machine_, problem.workload, problem.current)),
        tasks_of_(machine_.num_places()),
        pull_(machine_.num_places(), 0) {
    for (TaskId t = 0; t < tasks_.size(); ++t) {
      if (!tasks_[t].movable) continue;
      const PlaceId p = placement.of(t);
      busy_s_[p] += tasks_[t].load_s / machine_.speed_of(p);
      tasks_of_[p].push_back(t);
    }
    make_tournaments();
  }

  void run() {
    std::vector<PlaceId> overloaded;
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      if (busy_s_[p] > cap_s_) overloaded.push_back(p);
    std::stable_sort(overloaded.begin(), overloaded.end(),
                     [&](PlaceId a, PlaceId b) { return busy_s_[a] > busy_s_[b]; });
    for (const PlaceId p : overloaded) {
      shed(p, kGone);
      while (busy_s_[p] > cap_s_ && (exchange(p, cap_s_) || make_way(p))) {
      }
    }
    lower_the_busiest();
  }

 private:
  /// Makes one tournament tree per speed class. The speeds of the places of a class differ by less
  /// than a factor of 2. A single tree for all places would not do, because a busier but faster
  /// place may finish a task earlier.
  void make_tournaments() {
    std::map<int, std::size_t> class_of_speed;
    for (PlaceId p = 0; p < machine_.num_places(); ++p) {
      const int speed = std::ilogb(machine_.speed_of(p));
      class_of_.push_back(class_of_speed.try_emplace(speed, class_of_speed.size()).first->second);
    }
    fastest_.assign(class_of_speed.size(), 0);
    for (PlaceId p = 0; p < machine_.num_places(); ++p)
      fastest_[class_of_[p]] = std::max(fastest_[class_of_[p]], machine_.speed_of(p));
    std::vector<std::vector<double>> busy_s(class_of_speed.size());
    for (auto& of_class : busy_s) of_class.assign(machine_.num_places(), kNever);
    for (PlaceId p = 0; p < machine_.num_places(); ++p) busy_s[class_of_[p]][p] = busy_s_[p];
    for (auto& of_class : busy_s) least_busy_.emplace_back(std::move(of_class));
  }

  double time_s(TaskId t, PlaceId p) const { return tasks_[t].load_s / machine_.speed_of(p); }

  void move(TaskId t, PlaceId to) {
    const PlaceId from = placement_.of(t);
    busy_s_[from] -= time_s(t, from);
    busy_s_[to] += time_s(t, to);
    std::erase(tasks_of_[from], t);
    tasks_of_[to].push_back(t);
    placement_.move(t, to);
    moves_.push_back({t, from, to});
    // Rounding may make a busy time negative, but a tournament tree accepts only values of at least
    // 0.
    for (const PlaceId p : {from, to})
      least_busy_[class_of_[p]].set(p, busy_s_[p] = std::max(0.0, busy_s_[p]));
  }

  /// The tasks of a place in ascending order of attachment. The attachment of a task is its
  /// affinity to tasks at this place minus its affinity to tasks elsewhere, divided by its load.
  std::vector<TaskId> by_attachment(PlaceId p) const {
    std::vector<std::pair<double, TaskId>> attached;
    for (const TaskId t : tasks_of_[p]) {
      if (tasks_[t].load_s <= 0) continue;
      double inside = 0, outside = 0;
      for (std::size_t e = graph_.first[t]; e < graph_.first[t + 1]; ++e)
        (placement_.of(graph_.to[e]) == p ? inside : outside) += graph_.affinity[e];
      attached.push_back({(inside - outside) / tasks_[t].load_s, t});
    }
    std::sort(attached.begin(), attached.end());
    std::vector<TaskId> tasks;
    for (const auto& [attachment, t] : attached) tasks.push_back(t);
    return tasks;
  }

  /// Moves tasks away from p until its load is within the cap. The task `kept` stays.
  void shed(PlaceId p, TaskId kept) {
    std::vector<TaskId> tasks = by_attachment(p);
    std::replace(tasks.begin(), tasks.end(), kept, kGone);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Range range = groups_.of(p, i);
      find_least_busy(range);
      for (TaskId& t : tasks) {
        if (busy_s_[p] <= cap_s_) return;
        if (t == kGone || !may_have_room(t)) continue;
        const auto to = place_with_room(t, p, range);
        if (!to) continue;
        move(t, *to);
        find_least_busy(range);
        t = kGone;
      }
    }
  }

  /// Prepares may_have_room() for the places of the range.
  void find_least_busy(Range range) {
    least_s_.clear();
    for (const LeastBusy& places : least_busy_)
      least_s_.push_back(places.busy_s(places.least_in(range.first, range.last)));
  }

  /// A quick test before the search of a range, because most ranges have no room. If it returns
  /// false, no place of the range can take the task t without exceeding the cap.
  bool may_have_room(TaskId t) const {
    for (std::size_t c = 0; c < least_s_.size(); ++c)
      if (least_s_[c] + tasks_[t].load_s / fastest_[c] <= cap_s_) return true;
    return false;
  }

  /// Returns a place in the range that can take the task t without exceeding the cap: the place
  /// with the largest affinity to t. If no such place has affinity to t, it returns the place that
  /// would finish t first.
  std::optional<PlaceId> place_with_room(TaskId t, PlaceId from, Range range) {
    near_.clear();
    for (std::size_t e = graph_.first[t]; e < graph_.first[t + 1]; ++e) {
      const PlaceId p = placement_.of(graph_.to[e]);
      if (p == from || p < range.first || p >= range.last) continue;
      if (pull_[p] == 0) near_.push_back(p);
      pull_[p] += graph_.affinity[e];
    }
    std::optional<PlaceId> best;
    double best_pull = 0;
    for (const PlaceId p : near_) {
      const double pull = std::exchange(pull_[p], 0);
      if (busy_s_[p] + time_s(t, p) > cap_s_ || (best && pull <= best_pull)) continue;
      best = p;
      best_pull = pull;
    }
    if (best) return best;
    const auto p = first_to_finish(t, from, range);
    return p && busy_s_[*p] + time_s(t, *p) <= cap_s_ ? p : std::nullopt;
  }

  /// Finds the least busy place of each speed class. Of these places, returns the one that would
  /// finish t first.
  std::optional<PlaceId> first_to_finish(TaskId t, PlaceId from, Range range) const {
    std::optional<PlaceId> best;
    double best_s = kNever;
    for (const LeastBusy& places : least_busy_) {
      const PlaceId p = places.least_in(range.first, range.last);
      if (places.busy_s(p) == kNever || p == from || busy_s_[p] + time_s(t, p) >= best_s) continue;
      best = p;
      best_s = busy_s_[p] + time_s(t, p);
    }
    return best;
  }

  /// Exchanges a task of p for a lighter task of a less busy place q, or only moves a task from p
  /// to q, so that neither p nor q works longer than limit_s. Returns q.
  std::optional<PlaceId> exchange(PlaceId p, double limit_s) {
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (const PlaceId q : partners(p, groups_.of(p, i)))
        if (exchange_with(p, q, limit_s)) return q;
    return std::nullopt;
  }

  std::vector<PlaceId> partners(PlaceId p, Range range) const {
    std::vector<PlaceId> found;
    const PlaceId size = range.last - range.first;
    for (const LeastBusy& places : least_busy_) {
      // Splits the range of places into a few pieces of about equal size, and takes the least busy
      // place of each piece.
      const PlaceId pieces = std::min<std::size_t>(tuning_.candidates, size);
      for (PlaceId i = 0; i < pieces; ++i) {
        const auto at = [&](PlaceId piece) {
          return range.first + std::uint64_t{size} * piece / pieces;
        };
        const PlaceId q = places.least_in(at(i), at(i + 1));
        if (q != p && places.busy_s(q) < busy_s_[p]) found.push_back(q);
      }
    }
    std::sort(found.begin(), found.end(), [&](PlaceId a, PlaceId b) {
      return busy_s_[a] != busy_s_[b] ? busy_s_[a] < busy_s_[b] : a < b;
    });
    found.resize(std::min(found.size(), tuning_.candidates));
    return found;
  }

  /// Exchanges two tasks between p and q, or moves one to q, so that the busier of the two places
  /// becomes as little busy as possible. Does nothing if that place would still work longer than
  /// limit_s.
  bool exchange_with(PlaceId p, PlaceId q, double limit_s) {
    double best_s = limit_s;
    TaskId best_given = kGone, best_taken = kGone;
    const auto times_s = [&](TaskId given, TaskId taken) {
      return std::pair(busy_s_[p] - time_s(given, p) + (taken == kGone ? 0 : time_s(taken, p)),
                       busy_s_[q] + time_s(given, q) - (taken == kGone ? 0 : time_s(taken, q)));
    };
    const auto consider = [&](TaskId given, TaskId taken) {
      const auto [p_s, q_s] = times_s(given, taken);
      const double after_s = std::max(p_s, q_s);
      if (after_s > best_s || (after_s == best_s && best_given != kGone)) return;
      best_s = after_s;
      best_given = given;
      best_taken = taken;
    };
    const std::vector<TaskId> lightest = lightest_first(tasks_of_[q]);
    for (const TaskId given : tasks_of_[p]) {
      consider(given, kGone);
      // p gives the task `given` to q and takes another task in return. The heavier the taken task,
      // the busier p and the less busy q become. So the best task to take is either the heaviest
      // one with which p stays less busy than q, or the next heavier one.
      const auto above = std::partition_point(lightest.begin(), lightest.end(), [&](TaskId taken) {
        const auto [p_s, q_s] = times_s(given, taken);
        return p_s < q_s;
      });
      if (above != lightest.begin()) consider(given, *std::prev(above));
      if (above != lightest.end()) consider(given, *above);
    }
    if (best_given == kGone) return false;
    move(best_given, q);
    if (best_taken != kGone) move(best_taken, p);
    return true;
  }

  /// Returns the tasks in order of ascending load, but only one of several tasks with the same
  /// load.
  std::vector<TaskId> lightest_first(const std::vector<TaskId>& tasks) const {
    std::vector<TaskId> sorted = tasks;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](TaskId a, TaskId b) { return tasks_[a].load_s < tasks_[b].load_s; });
    const auto end = std::unique(sorted.begin(), sorted.end(), [&](TaskId a, TaskId b) {
      return tasks_[a].load_s == tasks_[b].load_s;
    });
    sorted.erase(end, sorted.end());
    return sorted;
  }

  /// Moves a heavy task from p to another place q. If q then exceeds the cap, moves lighter tasks
  /// away from q. Returns false, and moves no task, if every place q would still exceed the cap.
  bool make_way(PlaceId p) {
    std::vector<TaskId> heaviest = tasks_of_[p];
    std::sort(heaviest.begin(), heaviest.end(), [&](TaskId a, TaskId b) {
      return tasks_[a].load_s != tasks_[b].load_s ? tasks_[a].load_s > tasks_[b].load_s : a < b;
    });
    heaviest.resize(std::min(heaviest.size(), tuning_.candidates));
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (const PlaceId q : partners(p, groups_.of(p, i)))
        for (const TaskId t : heaviest)
          if (makes_way(q, t)) return true;
    return false;
  }

  bool makes_way(PlaceId q, TaskId t) {
    if (time_s(t, q) > cap_s_) return false;
    const std::size_t before = moves_.size();
    move(t, q);
    if (busy_s_[q] <= cap_s_) return true;
    if (may_give(q, t)) shed(q, t);
    if (busy_s_[q] <= cap_s_) return true;
    while (moves_.size() > before) {
      const Migration last = moves_.back();
      move(last.task, last.from);
      moves_.resize(moves_.size() - 2);
    }
    return false;
  }

  /// A quick test: if it returns false, no place has room for any task of q other than `kept`. If
  /// it returns true, there may be room.
  bool may_give(PlaceId q, TaskId kept) const {
    double lightest_s = kNever;
    for (const TaskId t : tasks_of_[q])
      if (t != kept && tasks_[t].load_s > 0) lightest_s = std::min(lightest_s, tasks_[t].load_s);
    for (std::size_t c = 0; c < least_busy_.size(); ++c) {
      const PlaceId p = least_busy_[c].least_in(0, machine_.num_places());
      if (least_busy_[c].busy_s(p) + lightest_s / fastest_[c] <= cap_s_) return true;
    }
    return false;
  }

  /// To be called if the cap cannot be reached. Exchanges tasks as long as that lowers the load of
  /// the busiest place.
  void lower_the_busiest() {
    std::priority_queue<std::pair<double, PlaceId>> busiest;
    const auto watch = [&](PlaceId p) {
      if (busy_s_[p] > cap_s_) busiest.push({busy_s_[p], p});
    };
    for (PlaceId p = 0; p < machine_.num_places(); ++p) watch(p);
    std::size_t remaining_steps = tuning_.candidates * machine_.num_places();
    while (!busiest.empty() && remaining_steps > 0) {
      const auto [busy_s, p] = busiest.top();
      busiest.pop();
      if (busy_s != busy_s_[p]) continue;
      const auto partner = exchange(p, std::max(cap_s_, busy_s * kWorthwhile));
      if (!partner) return;
      watch(p);
      watch(*partner);
      --remaining_steps;
    }
  }

  static constexpr TaskId kGone = std::numeric_limits<TaskId>::max();

  const Machine& machine_;
  const std::vector<Task>& tasks_;
  const Graph& graph_;
  double cap_s_;
  const Tuning& tuning_;
  Placement& placement_;
  EnclosingGroups groups_;
  std::vector<double> busy_s_;
  std::vector<std::vector<TaskId>> tasks_of_;  // movable tasks per place
  std::vector<double> pull_;  // per place: affinity of a task to the tasks there; 0 between calls
  std::vector<PlaceId> near_;
  std::vector<std::size_t> class_of_;  // per place: index of its speed class
  std::vector<double> fastest_;        // per class: the highest speed of its places
  // One tournament tree per speed class. In each tree, the places of other classes count as
  // infinitely busy.
  std::vector<LeastBusy> least_busy_;
  std::vector<double> least_s_;   // scratch: per class, the least busy time in a range of places
  std::vector<Migration> moves_;  // all moves so far; the last ones can be undone
};

}  // namespace

void hold_load_cap(const Problem& problem, const Graph& graph, double cap_s, Placement& placement,
                   const Tuning& tuning) {
  LoadCap(problem, graph, cap_s, tuning, placement).run();
}

}  // namespace graphs

}  // namespace poise
