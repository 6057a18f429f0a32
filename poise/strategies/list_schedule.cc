#include "poise/strategies/list_schedule.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "poise/placement/least_busy.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

namespace {

/// Past as many different speeds, neighbouring ones share a group.
constexpr std::size_t kMaxSpeedGroups = 32;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Less than any busy time: the current place's among candidates of the same cost.
constexpr double kWinsTies = -1;

/// Lower bounds of sums in another order of rounding are lowered by this part.
constexpr double kRoundingSlack = 1e-9;

/// Messages of one task with its partners in one leaf of the distance tree.
struct Traffic {
  std::uint32_t leaf;
  std::uint64_t count;
};

/// The same for a group of any level: its leaves are [first, last) of the traffic.
struct Branch {
  std::uint32_t group;
  std::size_t first, last;
  std::uint64_t count;
};

/// Messages that weigh the same.
struct Term {
  double weight;
  std::uint64_t count;
};

/// A place for the task at hand; the lesser is the better.
struct Candidate {
  double cost, busy_s;
  PlaceId place;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.busy_s, a.place) < std::tie(b.cost, b.busy_s, b.place);
  }
};

/// Places of one speed, or of neighbouring speeds, and how busy they are.
struct SpeedGroup {
  double min_speed, max_speed;
  std::vector<PlaceId> places;  // ascending
  LeastBusy busy;               // by position in `places`

  PlaceId size() const { return static_cast<PlaceId>(places.size()); }
  /// Whether place i is the i-th, as when all places have one speed.
  bool is_dense() const { return places.back() + 1 == size(); }
  PlaceId place(PlaceId position) const { return is_dense() ? position : places[position]; }
  /// Of the first of its places that is not below p.
  PlaceId position(PlaceId p) const {
    if (is_dense()) return std::min(p, size());
    return static_cast<PlaceId>(std::lower_bound(places.begin(), places.end(), p) - places.begin());
  }
};

std::vector<double> busy_at_first(const Problem& problem) {
  std::vector<double> busy_s = problem.workload.background_s;
  busy_s.resize(problem.machine.num_places(), 0);
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    const PlaceId p = problem.current.of(t);
    busy_s[p] += problem.workload.tasks[t].load_s / problem.machine.speed_of(p);
  }
  return busy_s;
}

std::vector<SpeedGroup> group_by_speed(const Machine& machine, const std::vector<double>& busy_s) {
  std::vector<double> speeds;
  for (const Place& place : machine.places()) speeds.push_back(place.speed);
  std::sort(speeds.begin(), speeds.end());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());

  const std::size_t num_groups = std::min(speeds.size(), kMaxSpeedGroups);
  std::vector<std::vector<PlaceId>> places(num_groups);
  std::vector<std::vector<double>> times(num_groups);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const auto found = std::lower_bound(speeds.begin(), speeds.end(), machine.speed_of(p));
    const auto rank = static_cast<std::size_t>(found - speeds.begin());
    const std::size_t group = rank * num_groups / speeds.size();
    places[group].push_back(p);
    times[group].push_back(busy_s[p]);
  }
  std::vector<SpeedGroup> groups;
  for (std::size_t g = 0; g < num_groups; ++g) {
    const auto by_speed = [&](PlaceId a, PlaceId b) {
      return machine.speed_of(a) < machine.speed_of(b);
    };
    const auto [slowest, fastest] =
        std::minmax_element(places[g].begin(), places[g].end(), by_speed);
    const double min_speed = machine.speed_of(*slowest), max_speed = machine.speed_of(*fastest);
    groups.push_back({min_speed, max_speed, std::move(places[g]), LeastBusy(std::move(times[g]))});
  }
  return groups;
}

/// The sum over distinct weights, ascending, of weight times count; sorts the terms.
double sum_of(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.weight < b.weight; });
  double sum = 0;
  for (auto term = terms.begin(); term != terms.end();) {
    const double weight = term->weight;
    std::uint64_t count = 0;
    for (; term != terms.end() && term->weight == weight; ++term) count += term->count;
    sum += weight * static_cast<double>(count);
  }
  return sum;
}

class Scheduler {
 public:
  Scheduler(const Problem& problem, const Links& partners, double alpha, MessageWeights weights)
      : machine_(problem.machine),
        partners_(partners),
        alpha_(alpha),
        has_equal_speeds_(problem.machine.has_equal_speeds()),
        tree_(problem.machine, weights),
        schedule_{problem.current} {
    const std::vector<double> busy_s = busy_at_first(problem);
    groups_ = group_by_speed(machine_, busy_s);
    group_of_.resize(machine_.num_places());
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
      for (const PlaceId p : groups_[g].places) group_of_[p] = g;
  }

  Schedule run(const Workload& workload) {
    for (const auto [t, load_s] : heaviest_first(workload.tasks)) {
      load_s_ = load_s;
      current_ = schedule_.placement.of(t);
      find_traffic(t);
      find_best();
      if (best_.place == current_) continue;
      set_busy(best_.place, busy_s(best_.place) + load_s / machine_.speed_of(best_.place));
      set_busy(current_, busy_without_task());
      schedule_.placement.move(t, best_.place);
    }
    return std::move(schedule_);
  }

 private:
  void find_traffic(TaskId t);
  void find_best();

  // Each looks for a better place in a group, while terms_ holds the messages from outside it.
  void visit(std::size_t level, const Branch& branch);
  void visit_uniform(std::size_t level, const Branch& branch, std::size_t first_branch);
  void visit_mixed(std::size_t level, const Branch& branch, std::size_t first_branch);
  void visit_quiet_child(std::size_t level, std::uint32_t child, std::size_t first_branch);

  void push_branches(std::size_t level, const Branch& parent);
  void push_siblings(std::size_t level, std::uint32_t group, std::size_t first_branch);
  bool is_branch(std::uint32_t group, std::size_t first_branch) const;

  void consider(PlaceId first, PlaceId last, double messages);
  void consider(const SpeedGroup& places, PlaceId first, PlaceId last, double messages);
  bool could_win(const SpeedGroup& places, double busy_s, double messages, PlaceId lowest) const {
    return Candidate{cost(places.max_speed, busy_s, messages), busy_s, lowest} < best_;
  }
  void offer(PlaceId p, double busy_s, double messages) {
    best_ = std::min(best_, {cost(machine_.speed_of(p), busy_s, messages), busy_s, p});
  }
  double cost(double speed, double busy_s, double messages) const {
    const double done_s = has_equal_speeds_ ? busy_s : busy_s + load_s_ / speed;
    return done_s + alpha_ * messages;
  }
  double weigh();

  double busy_s(PlaceId p) const {
    const SpeedGroup& group = groups_[group_of_[p]];
    return group.busy.busy_s(group.position(p));
  }
  void set_busy(PlaceId p, double busy_s) {
    SpeedGroup& group = groups_[group_of_[p]];
    group.busy.set(group.position(p), busy_s);
  }
  /// Of the current place; what rounding leaves of an emptied place is not below 0.
  double busy_without_task() const {
    return std::max(busy_s(current_) - load_s_ / machine_.speed_of(current_), 0.0);
  }

  const Machine& machine_;
  const Links& partners_;
  const double alpha_;
  const bool has_equal_speeds_;
  const DistanceTree tree_;
  Schedule schedule_;
  std::vector<SpeedGroup> groups_;
  std::vector<std::uint32_t> group_of_;  // per place

  // The task at hand.
  double load_s_ = 0;
  PlaceId current_ = 0;
  Candidate best_{};
  std::vector<Traffic> traffic_;  // by leaf, ascending
  std::vector<Branch> branches_;  // of the groups being visited: a stack
  std::vector<Term> terms_;       // likewise
  std::vector<Term> sorted_terms_;
};

void Scheduler::find_traffic(TaskId t) {
  traffic_.clear();
  for (const Link& link : partners_.of(t))
    traffic_.push_back({tree_.leaf_of(schedule_.placement.of(link.task)), link.count});
  std::sort(traffic_.begin(), traffic_.end(),
            [](const Traffic& a, const Traffic& b) { return a.leaf < b.leaf; });
  std::size_t kept = 0;
  for (const Traffic& traffic : traffic_) {
    if (kept > 0 && traffic_[kept - 1].leaf == traffic.leaf)
      traffic_[kept - 1].count += traffic.count;
    else
      traffic_[kept++] = traffic;
  }
  traffic_.resize(kept);
}

void Scheduler::find_best() {
  best_ = {kInfinity, kInfinity, current_};
  std::uint64_t count = 0;
  for (const Traffic& traffic : traffic_) count += traffic.count;
  if (traffic_.empty())
    consider(0, machine_.num_places(), 0);
  else
    visit(0, {0, 0, traffic_.size(), count});
}

void Scheduler::visit(std::size_t level, const Branch& branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  if (level + 1 == tree_.num_levels()) {
    terms_.push_back({tree_.leaf_weight(), branch.count});
    consider(group.first, group.last, weigh());
    terms_.pop_back();
    return;
  }
  const std::size_t first_branch = branches_.size();
  push_branches(level + 1, branch);
  if (group.is_uniform)
    visit_uniform(level, branch, first_branch);
  else
    visit_mixed(level, branch, first_branch);
  branches_.resize(first_branch);
}

/// All places outside the branches are alike: one question for each run of them.
void Scheduler::visit_uniform(std::size_t level, const Branch& branch, std::size_t first_branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  const std::size_t last_branch = branches_.size();
  for (std::size_t b = first_branch; b < last_branch; ++b) {
    const Branch child = branches_[b];
    terms_.push_back({group.weight, branch.count - child.count});
    visit(level + 1, child);
    terms_.pop_back();
  }
  terms_.push_back({group.weight, branch.count});
  const double messages = weigh();
  terms_.pop_back();
  PlaceId first = group.first;
  for (std::size_t b = first_branch; b < last_branch; ++b) {
    const DistanceTree::Group& child = tree_.level(level + 1)[branches_[b].group];
    consider(first, child.first, messages);
    first = child.last;
  }
  consider(first, group.last, messages);
}

/// Every child is at its own distances from the branches; those too busy to win at the least
/// conceivable distance are passed over.
void Scheduler::visit_mixed(std::size_t level, const Branch& branch, std::size_t first_branch) {
  const DistanceTree::Group& group = tree_.level(level)[branch.group];
  const std::size_t last_branch = branches_.size();
  for (std::size_t b = first_branch; b < last_branch; ++b) {
    const Branch child = branches_[b];
    const std::size_t num_terms = terms_.size();
    push_siblings(level + 1, child.group, first_branch);
    visit(level + 1, child);
    terms_.resize(num_terms);
  }
  terms_.push_back({group.weight, branch.count});
  const double lower_bound = weigh() * (1 - kRoundingSlack);
  terms_.pop_back();

  const auto child_of = [&](PlaceId p) { return tree_.group_of_leaf(level + 1, tree_.leaf_of(p)); };
  if (group.first <= current_ && current_ < group.last)
    visit_quiet_child(level + 1, child_of(current_), first_branch);
  for (const SpeedGroup& places : groups_) {
    const PlaceId last = places.position(group.last);
    for (PlaceId position = places.position(group.first);;) {
      const PlaceId lowest = position < last ? places.place(position) : 0;
      position = places.busy.next_in(position, last, [&](double busy_s) {
        return could_win(places, busy_s, lower_bound, lowest);
      });
      if (position == last) break;
      const std::uint32_t child = child_of(places.place(position));
      visit_quiet_child(level + 1, child, first_branch);
      position = places.position(tree_.level(level + 1)[child].last);
    }
  }
}

/// A group without traffic; one with traffic has been visited as a branch.
void Scheduler::visit_quiet_child(std::size_t level, std::uint32_t child,
                                  std::size_t first_branch) {
  if (is_branch(child, first_branch)) return;
  const std::size_t num_terms = terms_.size();
  push_siblings(level, child, first_branch);
  const double messages = weigh();
  terms_.resize(num_terms);
  consider(tree_.level(level)[child].first, tree_.level(level)[child].last, messages);
}

/// The groups of a level that share the traffic of their parent.
void Scheduler::push_branches(std::size_t level, const Branch& parent) {
  for (std::size_t i = parent.first; i < parent.last;) {
    Branch branch{tree_.group_of_leaf(level, traffic_[i].leaf), i, i, 0};
    for (; i < parent.last && tree_.group_of_leaf(level, traffic_[i].leaf) == branch.group; ++i)
      branch.count += traffic_[i].count;
    branch.last = i;
    branches_.push_back(branch);
  }
}

/// What a group hears from the branches beside it.
void Scheduler::push_siblings(std::size_t level, std::uint32_t group, std::size_t first_branch) {
  for (std::size_t b = first_branch; b < branches_.size(); ++b)
    if (branches_[b].group != group)
      terms_.push_back({tree_.weight(level, branches_[b].group, group), branches_[b].count});
}

bool Scheduler::is_branch(std::uint32_t group, std::size_t first_branch) const {
  const auto begin = branches_.begin() + static_cast<std::ptrdiff_t>(first_branch);
  const auto found = std::lower_bound(
      begin, branches_.end(), group,
      [](const Branch& branch, std::uint32_t wanted) { return branch.group < wanted; });
  return found != branches_.end() && found->group == group;
}

void Scheduler::consider(PlaceId first, PlaceId last, double messages) {
  if (first == last) return;
  if (first <= current_ && current_ < last) {
    const double busy_s = busy_without_task();
    best_ =
        std::min(best_, {cost(machine_.speed_of(current_), busy_s, messages), kWinsTies, current_});
  }
  for (const SpeedGroup& places : groups_) consider(places, first, last, messages);
}

void Scheduler::consider(const SpeedGroup& places, PlaceId first, PlaceId last, double messages) {
  ++schedule_.num_evaluations;
  const LeastBusy& busy = places.busy;
  if (!could_win(places, busy.busy_s(busy.least()), messages, first)) return;
  PlaceId position = places.position(first);
  const PlaceId end = places.position(last);
  if (position == end) return;
  if (places.min_speed == places.max_speed) {
    position = busy.least_in(position, end);
    offer(places.place(position), busy.busy_s(position), messages);
    return;
  }
  const auto is_worth_a_look = [&](double busy_s) {
    return could_win(places, busy_s, messages, first);
  };
  for (; (position = busy.next_in(position, end, is_worth_a_look)) < end; ++position)
    offer(places.place(position), busy.busy_s(position), messages);
}

/// What the messages in terms_ weigh.
double Scheduler::weigh() {
  sorted_terms_ = terms_;
  return sum_of(sorted_terms_);
}

}  // namespace

Schedule list_schedule(const Problem& problem, const Links& partners, double alpha,
                       MessageWeights weights) {
  return Scheduler(problem, partners, alpha, weights).run(problem.workload);
}

}  // namespace poise
