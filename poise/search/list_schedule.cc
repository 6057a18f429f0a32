// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/list_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "poise/placement/metrics.h"
#include "poise/placement/speed_groups.h"
#include "poise/search/block_distances.h"
#include "poise/search/weighed_messages.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// If several candidate places have the same cost, the least busy one wins. For the task's current
/// place, this number replaces the busy time. The number is below any busy time, so the current
/// place wins all ties.
constexpr double kWinsTies = -1;

/// Maximum relative difference between two sums of the same terms added up in different
/// orders.
constexpr double kRoundingSlack = 1e-9;

/// The messages that a task exchanges with partners in one leaf of the distance tree.
struct Traffic {
  std::uint32_t leaf;
  std::uint64_t count;
};

/// A group of the distance tree, at any level, that contains partners of the task. The task
/// exchanges `count` messages with these partners; traffic_[first, last) lists the messages by
/// leaf.
struct Branch {
  std::uint32_t group;
  std::size_t first, last;
  std::uint64_t count;
};

/// A candidate place for the current task. By operator<, the better candidate comes first.
struct Candidate {
  double cost, busy_s;
  PlaceId place;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.busy_s, a.place) < std::tie(b.cost, b.busy_s, b.place);
  }
};

bool holds(const DistanceTree::Group& group, PlaceId p) {
  return group.first <= p && p < group.last;
}

class Scheduler {
 public:
  Scheduler(const Problem& problem, const MessageCounts& partners, double alpha,
            MessageWeights weights);
  Schedule run(const Workload& workload);

 private:
  void take(const LoadedTask& task);
  void find_traffic(TaskId t);
  void find_best();
  void move(TaskId t, PlaceId to);

  // Each visit function searches one group of the distance tree for a better place. During a visit,
  // outside_ holds the messages that the task exchanges with partners outside that group.
  void visit(std::size_t level, const Branch& branch);
  void visit_branches(std::size_t level, const Branch& branch, std::size_t first_branch);
  void visit_rest_of_uniform(std::size_t level, const Branch& branch, std::size_t first_branch);
  void visit_rest_of_mixed(std::size_t level, const Branch& branch, std::size_t first_branch);
  void visit_idle_children(std::size_t level, std::uint32_t first_child, std::uint32_t last_child,
                           double lightest, std::size_t first_branch);
  void visit_quiet_child(std::size_t level, std::uint32_t child, std::size_t first_branch);

  void push_branches(std::size_t level, const Branch& parent);
  void add_siblings(std::size_t level, std::uint32_t group, std::size_t first_branch);
  double rough_sum(std::size_t level, std::uint32_t group, std::size_t first_branch) const;
  bool is_branch(std::uint32_t group, std::size_t first_branch) const;

  void consider_current(double messages) {
    best_ = std::min(best_, {cost(machine_.speed_of(current_), busy_without_task_s_, messages),
                             kWinsTies, current_});
  }
  void consider(PlaceId first, PlaceId last, double messages);
  void consider(const SpeedGroup& places, PlaceId first, PlaceId last, double messages);
  void offer(PlaceId p, double busy_s, double messages) {
    best_ = std::min(best_, {cost(machine_.speed_of(p), busy_s, messages), busy_s, p});
  }
  bool could_win(const SpeedGroup& places, double busy_s, double messages, PlaceId lowest) const {
    return Candidate{cost(places.max_speed, busy_s, messages), busy_s, lowest} < best_;
  }
  bool could_hold_best(const DistanceTree::Group& group, double lightest);
  /// Returns a lower bound on the sum of message weights. `messages` is that sum, but its terms may
  /// have been added up in another order and so have been rounded differently.
  double less_rounding(double messages) const {
    return messages - kRoundingSlack * (std::abs(messages) + 2.0 * num_messages_);
  }
  std::uint32_t has_load() const { return load_s_ > 0; }
  double cost(double speed, double busy_s, double messages) const {
    const double done_s = has_equal_speeds_ ? busy_s : busy_s + load_s_ / speed;
    return done_s + alpha_ * messages;
  }

  const Machine& machine_;
  const MessageCounts& partners_;
  const double alpha_;
  const bool has_equal_speeds_;
  const DistanceTree tree_;
  Schedule schedule_;
  std::vector<std::uint32_t> leaf_of_task_;  // leaf of the distance tree
  SpeedGroups places_;
  std::span<const double> background_s_;  // background load per place; empty: none
  std::vector<std::uint32_t> num_loads_;  // per place: tasks with a load above 0
  BlockDistances blocks_;

  // The members below belong to the task that is being placed.
  double load_s_ = 0;
  PlaceId current_ = 0;
  double busy_without_task_s_ = 0;  // busy time of the task's current place without the task
  Candidate best_{};
  std::uint64_t num_messages_ = 0;
  std::vector<Traffic> traffic_;  // by leaf, ascending
  std::vector<Branch> branches_;  // a stack of the groups being visited
  WeighedMessages outside_;
  std::vector<double> block_bounds_;
};

Scheduler::Scheduler(const Problem& problem, const MessageCounts& partners, double alpha,
                     MessageWeights weights)
    : machine_(problem.machine),
      partners_(partners),
      alpha_(alpha),
      has_equal_speeds_(problem.machine.has_equal_speeds()),
      tree_(problem.machine, weights),
      schedule_{problem.current},
      places_(problem.machine, work_s(problem.machine, problem.workload, problem.current)),
      background_s_(problem.workload.background_s),
      num_loads_(problem.machine.num_places(), 0),
      blocks_(tree_) {
  for (const PlaceId p : problem.current.places()) leaf_of_task_.push_back(tree_.leaf_of(p));
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
    num_loads_[problem.current.of(t)] += problem.workload.tasks[t].load_s > 0;
}

Schedule Scheduler::run(const Workload& workload) {
  const std::vector<LoadedTask> order = heaviest_first(workload.tasks);
  // Tasks are visited in order of load, so their data are scattered over memory. Therefore the loop
  // prefetches the data of later tasks. The prefetches are not moved to a function of their own,
  // because GCC would remove the call of a function without visible effect.
  constexpr std::size_t kRow = 24, kEntries = 16, kLeaves = 8;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + kRow < order.size()) {
      partners_.prefetch_row(order[i + kRow].task);
      partners_.prefetch_entries(order[i + kEntries].task);
      __builtin_prefetch(&schedule_.placement.places()[order[i + kLeaves].task]);
      for (const MessageCounts::Entry& entry : partners_.of(order[i + kLeaves].task))
        __builtin_prefetch(&leaf_of_task_[entry.task]);
    }
    take(order[i]);
    find_best();
    if (best_.place != current_) move(order[i].task, best_.place);
  }
  return std::move(schedule_);
}

void Scheduler::take(const LoadedTask& task) {
  load_s_ = task.load_s;
  current_ = schedule_.placement.of(task.task);
  // If no other task loads the place, its busy time without this task is exactly the background
  // load. Subtracting the task's load could leave slightly more than that, because of rounding, and
  // the task would move to an equally idle place.
  if (num_loads_[current_] == has_load())
    busy_without_task_s_ = background_s_.empty() ? 0 : background_s_[current_];
  else
    busy_without_task_s_ =
        std::max(places_.busy_s(current_) - load_s_ / machine_.speed_of(current_), 0.0);
  find_traffic(task.task);
}

void Scheduler::find_traffic(TaskId t) {
  traffic_.clear();
  for (const MessageCounts::Entry& entry : partners_.of(t))
    if (entry.count > 0) traffic_.push_back({leaf_of_task_[entry.task], partners_.count_of(entry)});
  std::sort(traffic_.begin(), traffic_.end(),
            [](const Traffic& a, const Traffic& b) { return a.leaf < b.leaf; });
  num_messages_ = 0;
  std::size_t kept = 0;
  for (const Traffic& traffic : traffic_) {
    num_messages_ += traffic.count;
    if (kept > 0 && traffic_[kept - 1].leaf == traffic.leaf)
      traffic_[kept - 1].count += traffic.count;
    else
      traffic_[kept++] = traffic;
  }
  traffic_.resize(kept);
}

void Scheduler::find_best() {
  best_ = {kInfinity, kInfinity, current_};
  if (traffic_.empty())
    consider(0, machine_.num_places(), 0);
  else
    visit(0, {0, 0, traffic_.size(), num_messages_});
}

void Scheduler::move(TaskId t, PlaceId to) {
  places_.add(to, load_s_ / machine_.speed_of(to));
  places_.set(current_, busy_without_task_s_);
  num_loads_[current_] -= has_load();
  num_loads_[to] += has_load();
  schedule_.placement.move(t, to);
  leaf_of_task_[t] = tree_.leaf_of(to);
}

void Scheduler::visit(std::size_t level, const Branch& branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  if (level + 1 == tree_.num_levels()) {
    const std::size_t num_outside = outside_.size();
    outside_.add(tree_.leaf_weight(), branch.count);
    consider(group.first, group.last, outside_.sum());
    outside_.shrink_to(num_outside);
    return;
  }
  if (!holds(group, current_) &&
      !could_hold_best(group, outside_.sum() + group.lightest * branch.count))
    return;
  const std::size_t first_branch = branches_.size();
  push_branches(level + 1, branch);
  visit_branches(level, branch, first_branch);
  if (group.is_uniform)
    visit_rest_of_uniform(level, branch, first_branch);
  else
    visit_rest_of_mixed(level, branch, first_branch);
  branches_.resize(first_branch);
}

/// True if the group may contain a better place than the best so far. Tries the group's least busy
/// place of each speed, assuming that the weights of the task's messages add up to only `lightest`.
bool Scheduler::could_hold_best(const DistanceTree::Group& group, double lightest) {
  const double messages = less_rounding(lightest);
  for (const SpeedGroup& places : places_.all()) {
    const PlaceId first = places.index_from(group.first), last = places.index_from(group.last);
    if (first == last) continue;
    ++schedule_.num_queries;
    const PlaceId least = places.busy.least_in(first, last);
    if (could_win(places, places.busy.busy_s(least), messages, group.first)) return true;
  }
  return false;
}

/// Visits the branches (groups with partners of the task), first the one with the task's current
/// place, because a good early candidate prunes the other branches.
void Scheduler::visit_branches(std::size_t level, const Branch& branch, std::size_t first_branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  const std::size_t num_branches = branches_.size() - first_branch;
  std::size_t start = 0;
  for (std::size_t b = 1; b < num_branches; ++b)
    if (holds(tree_.level(level + 1)[branches_[first_branch + b].group], current_)) start = b;
  const std::size_t num_outside = outside_.size();
  for (std::size_t b = 0; b < num_branches; ++b) {
    const Branch child = branches_[first_branch + (start + b) % num_branches];
    if (group.is_uniform) {
      outside_.add(group.weight, branch.count - child.count);
    } else {
      const DistanceTree::Group& inside = tree_.level(level + 1)[child.group];
      const double lightest =
          rough_sum(level + 1, child.group, first_branch) + inside.lightest * child.count;
      if (!holds(inside, current_) && !could_hold_best(inside, lightest)) continue;
      add_siblings(level + 1, child.group, first_branch);
    }
    visit(level + 1, child);
    outside_.shrink_to(num_outside);
  }
}

/// Searches the children of a group that are not branches, that is, contain no partner of the task.
/// The task's messages weigh the same from all places of these children. So one query finds the
/// best of all places between two branches.
void Scheduler::visit_rest_of_uniform(std::size_t level, const Branch& branch,
                                      std::size_t first_branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  const std::size_t num_outside = outside_.size();
  outside_.add(group.weight, branch.count);
  const double messages = outside_.sum();
  outside_.shrink_to(num_outside);
  PlaceId first = group.first;
  for (std::size_t b = first_branch; b < branches_.size(); ++b) {
    const DistanceTree::Group& child = tree_.level(level + 1)[branches_[b].group];
    consider(first, child.first, messages);
    first = child.last;
  }
  consider(first, group.last, messages);
}

/// Searches the children of a group that are not branches, that is, contain no partner of the task.
/// On a network that is not a tree, each child has its own distance to every branch. Children are
/// skipped if they are too busy to win even at the smallest possible distance. At the top level,
/// where there are many children, that distance is computed per block of children, and whole blocks
/// are skipped.
void Scheduler::visit_rest_of_mixed(std::size_t level, const Branch& branch,
                                    std::size_t first_branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  const auto visit_at = [&](PlaceId p) {
    const std::uint32_t child = tree_.group_of_leaf(level + 1, tree_.leaf_of(p));
    visit_quiet_child(level + 1, child, first_branch);
  };
  if (holds(group, current_)) visit_at(current_);
  // Good candidates are visited first, because they prune the others.
  for (const SpeedGroup& places : places_.all())
    if (const PlaceId p = places.least(); holds(group, p)) visit_at(p);
  const double outside = outside_.sum();
  const double lightest = outside + group.weight * branch.count;
  if (level > 0) {
    visit_idle_children(level, group.first_child, group.last_child, lightest, first_branch);
    return;
  }
  if (!could_hold_best(group, lightest)) return;
  block_bounds_.assign(blocks_.num_blocks(), outside);
  for (std::size_t b = first_branch; b < branches_.size(); ++b) {
    const std::vector<double>& weights = blocks_.lightest_from(branches_[b].group);
    const double count = branches_[b].count;
    for (std::size_t block = 0; block < weights.size(); ++block)
      block_bounds_[block] += weights[block] * count;
  }
  for (std::uint32_t block = 0; block < blocks_.num_blocks(); ++block)
    visit_idle_children(level, blocks_.first_child(block), blocks_.first_child(block + 1),
                        block_bounds_[block], first_branch);
}

/// Searches those children of a group that may contain a better place than the best so far.
/// `lightest` is a lower bound on the sum of the weights of the task's messages from any place in
/// these children.
void Scheduler::visit_idle_children(std::size_t level, std::uint32_t first_child,
                                    std::uint32_t last_child, double lightest,
                                    std::size_t first_branch) {
  const auto children = tree_.level(level + 1);
  const double messages = less_rounding(lightest);
  for (const SpeedGroup& places : places_.all()) {
    const PlaceId last = places.index_from(children[last_child - 1].last);
    for (PlaceId index = places.index_from(children[first_child].first); index < last;) {
      ++schedule_.num_queries;
      const PlaceId lowest = places.place(index);
      index = places.busy.next_in(
          index, last, [&](double busy_s) { return could_win(places, busy_s, messages, lowest); });
      if (index == last) break;
      const std::uint32_t child =
          tree_.group_of_leaf(level + 1, tree_.leaf_of(places.place(index)));
      visit_quiet_child(level + 1, child, first_branch);
      index = places.index_from(children[child].last);
    }
  }
}

/// Tries the places of a child group in which the task has no partner. Does nothing if the task has
/// a partner in the group, because visit_branches() has visited such groups.
void Scheduler::visit_quiet_child(std::size_t level, std::uint32_t child,
                                  std::size_t first_branch) {
  if (is_branch(child, first_branch)) return;
  const DistanceTree::Group& group = tree_.level(level)[child];
  if (!holds(group, current_) && !could_hold_best(group, rough_sum(level, child, first_branch)))
    return;
  const std::size_t num_outside = outside_.size();
  add_siblings(level, child, first_branch);
  consider(group.first, group.last, outside_.sum());
  outside_.shrink_to(num_outside);
}

/// Adds a branch for each group of `level` that holds partners of the task and lies inside
/// `parent`.
void Scheduler::push_branches(std::size_t level, const Branch& parent) {
  for (std::size_t i = parent.first; i < parent.last;) {
    Branch branch{tree_.group_of_leaf(level, traffic_[i].leaf), i, i, 0};
    for (; i < parent.last && tree_.group_of_leaf(level, traffic_[i].leaf) == branch.group; ++i)
      branch.count += traffic_[i].count;
    branch.last = i;
    branches_.push_back(branch);
  }
}

/// Adds to outside_ the messages that the task, if it were placed in `group`, would exchange with
/// partners in all other branches.
void Scheduler::add_siblings(std::size_t level, std::uint32_t group, std::size_t first_branch) {
  for (std::size_t b = first_branch; b < branches_.size(); ++b)
    if (branches_[b].group != group)
      outside_.add(tree_.weight(level, branches_[b].group, group), branches_[b].count);
}

/// Returns the sum of the weights that outside_ would have after add_siblings(), but added up in
/// another order. This sum is fast to compute, and precise enough to reject most groups. The exact
/// sum is computed only for the remaining groups: if all weights differ, its computing time grows
/// with the square of the number of branches.
double Scheduler::rough_sum(std::size_t level, std::uint32_t group,
                            std::size_t first_branch) const {
  double sum = outside_.sum();
  for (std::size_t b = first_branch; b < branches_.size(); ++b)
    if (branches_[b].group != group)
      sum += tree_.weight(level, branches_[b].group, group) * branches_[b].count;
  return sum;
}

bool Scheduler::is_branch(std::uint32_t group, std::size_t first_branch) const {
  const auto begin = branches_.begin() + first_branch;
  const auto found = std::lower_bound(
      begin, branches_.end(), group,
      [](const Branch& branch, std::uint32_t wanted) { return branch.group < wanted; });
  return found != branches_.end() && found->group == group;
}

void Scheduler::consider(PlaceId first, PlaceId last, double messages) {
  if (first == last) return;
  if (first <= current_ && current_ < last) consider_current(messages);
  for (const SpeedGroup& places : places_.all()) consider(places, first, last, messages);
}

void Scheduler::consider(const SpeedGroup& places, PlaceId first, PlaceId last, double messages) {
  ++schedule_.num_queries;
  const LeastBusy& busy = places.busy;
  if (!could_win(places, busy.busy_s(busy.least()), messages, first)) return;
  PlaceId index = places.index_from(first);
  const PlaceId end = places.index_from(last);
  if (index == end) return;
  if (places.has_one_speed()) {
    index = busy.least_in(index, end);
    offer(places.place(index), busy.busy_s(index), messages);
    return;
  }
  const auto is_worth_trying = [&](double busy_s) {
    return could_win(places, busy_s, messages, first);
  };
  for (; (index = busy.next_in(index, end, is_worth_trying)) < end; ++index)
    offer(places.place(index), busy.busy_s(index), messages);
}

}  // namespace

Schedule list_schedule(const Problem& problem, const MessageCounts& partners, double alpha,
                       MessageWeights weights) {
  return Scheduler(problem, partners, alpha, weights).run(problem.workload);
}

}  // namespace poise
