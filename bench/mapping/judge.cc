// SPDX-License-Identifier: BSD-3-Clause

#include "bench/mapping/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace poise::mapping {

namespace {

using nlohmann::json;

/// A mapping tool with which `poise` is compared when both place all tasks anew, without regard to
/// the current placement. The traffic of `poise` divided by the tool's traffic must not exceed
/// `max_traffic_ratio`.
struct Mapper {
  const char* tool;
  double max_traffic_ratio;
};
constexpr Mapper kMapper = {"scotch:effort=best", 1};
/// SharedMap in its strong mode (mapping_peers.py) decides slowly, but its placements have a few
/// per cent less traffic than those of `poise`.
constexpr Mapper kStrongMapper = {"sharedmap", 1.05};
/// If all tasks are placed anew, the makespan divided by its lower bound must not exceed this
/// value.
constexpr double kLoadCap = 1.0501;
Row judged(const std::string& tool, const Instance& instance, Answer answer) {
  for (TaskId t = 0; t < instance.workload.num_tasks(); ++t)
    if (!instance.workload.tasks[t].movable) answer.placement.move(t, instance.current.of(t));
  return {tool,
          evaluate(instance.machine, instance.workload, instance.machine.costs(), instance.current,
                   answer.placement),
          answer.decision_s, is_outside(tool)};
}

double percent_moved(const Outcome& outcome, const Row& row) {
  return 100.0 * row.metrics.migrations / outcome.num_tasks;
}

/// The geometric mean of the values passed to add().
class Mean {
 public:
  void add(double value) { sum_ += std::log(value), ++count_; }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

/// Returns two counts: of the instances, and of those on which `poise` is at least as good as the
/// best peer. Also returns three geometric means of ratios:
/// - the iteration time of `poise` divided by that of the best peer, over all instances;
/// - the same ratio, over the instances in which messages matter more than loads;
/// - the decision time of `poise` divided by that of the fastest peer with a similar iteration time
///   (Outcome::fastest_equal).
/// Peers are all other tools or, with `only_outside`, only tools not written for Poise.
json against(const std::vector<Outcome>& outcomes, bool only_outside) {
  constexpr double kEqual = 1 + 1e-9;
  int cases = 0, won = 0;
  Mean ratio, messages_ratio, time_ratio;
  for (const Outcome& outcome : outcomes) {
    const Row* peer = outcome.best_peer(only_outside);
    if (peer == nullptr) continue;
    const double over = outcome.ours().metrics.iteration_s / peer->metrics.iteration_s;
    ++cases;
    won += over <= kEqual;
    ratio.add(over);
    if (outcome.weighs_messages) messages_ratio.add(over);
    if (const Row* equal = outcome.fastest_equal(only_outside))
      time_ratio.add(outcome.ours().decision_s / equal->decision_s);
  }
  return {{"cases", cases},
          {"won", won},
          {"iteration_over_best", ratio.value()},
          {"iteration_over_best_where_messages_weigh", messages_ratio.value()},
          {"time_over_fastest_equal", time_ratio.value()}};
}

bool holds_cap(const Row& row) {
  return row.metrics.makespan_s <= kLoadCap * row.metrics.makespan_bound_s;
}

/// Compares `poise` with a mapping tool when both place all tasks anew, without regard to the
/// current placement. Returns two ratios of `poise` to the tool: of the traffic weighted by
/// distance, and of the decision time. Also returns how many placements of `poise` and how many of
/// the tool respect the load cap.
json from_scratch_against(const Mapper& who, const std::vector<Outcome>& outcomes) {
  int cases = 0, ours_hold = 0, theirs_hold = 0;
  Mean traffic, time;
  for (const Outcome& outcome : outcomes) {
    const Row* mapper = outcome.row_of(who.tool);
    if (mapper == nullptr || !outcome.from_scratch || mapper->metrics.nuco_messages == 0) continue;
    ++cases;
    ours_hold += holds_cap(*outcome.from_scratch);
    theirs_hold += holds_cap(*mapper);
    traffic.add(outcome.from_scratch->metrics.nuco_messages / mapper->metrics.nuco_messages);
    time.add(outcome.from_scratch->decision_s / mapper->decision_s);
  }
  return {{"mapper", who.tool},
          {"cases", cases},
          {"traffic_over_mapper", traffic.value()},
          {"time_over_mapper", time.value()},
          {"within_load_cap", ours_hold},
          {"mapper_within_load_cap", theirs_hold}};
}

json summary_of(const std::vector<Outcome>& outcomes) {
  constexpr double kMinPercent = 0.1;
  Mean over_limit, over_bound;
  std::map<std::string, Mean> moved, over_ours;
  for (const Outcome& outcome : outcomes) {
    const double ours_s = outcome.ours().metrics.iteration_s;
    if (outcome.limit_s > 0) over_limit.add(ours_s / outcome.limit_s);
    if (outcome.bound_s > 0) over_bound.add(ours_s / outcome.bound_s);
    for (const Row& row : outcome.rows) {
      moved[row.tool].add(std::max(kMinPercent, percent_moved(outcome, row)));
      over_ours[row.tool].add(row.metrics.iteration_s / ours_s);
    }
  }
  json tools;
  for (const auto& [tool, mean] : moved)
    tools[tool] = {{"percent_moved", mean.value()},
                   {"iteration_over_ours", over_ours[tool].value()}};
  return {{"name", "summary"},
          {"against_all", against(outcomes, false)},
          {"against_tools_of_others", against(outcomes, true)},
          {"from_scratch", from_scratch_against(kMapper, outcomes)},
          {"from_scratch_against_strong", from_scratch_against(kStrongMapper, outcomes)},
          {"over_limit", over_limit.value()},
          {"over_makespan_bound", over_bound.value()},
          {"tools", tools}};
}

double longest_small_decision_s(const std::vector<Outcome>& outcomes) {
  double longest_s = 0;
  for (const Outcome& outcome : outcomes)
    if (outcome.num_tasks == 480 && outcome.num_places == 32)
      longest_s = std::max(longest_s, outcome.ours().decision_s);
  return longest_s;
}

/// A limit for the strategy `poise`: `value` must be at most `most`. `text` describes the value. In
/// the text, "peer" means a tool that was not written for Poise.
struct Bar {
  const char* text;
  double value, most;
};

std::vector<Bar> bars_of(const json& summary, const std::vector<Outcome>& outcomes) {
  const json &others = summary["against_tools_of_others"], &scratch = summary["from_scratch"];
  std::vector<Bar> bars = {
      {"balancing: part of the cases where a peer's iteration is shorter",
       1 - others["won"].get<double>() / std::max(1, others["cases"].get<int>()), 0.05},
      {"balancing: iteration over the best peer's", others["iteration_over_best"], 0.96},
      {"balancing: the same where messages weigh",
       others["iteration_over_best_where_messages_weigh"], 0.85},
      {"balancing: percent of the tasks moved", summary["tools"][kOurs]["percent_moved"], 10},
      {"balancing: time over that of the fastest tool of others within 5 %",
       others["time_over_fastest_equal"], 1},
      {"balancing: seconds for 480 tasks at 32 places, at most", longest_small_decision_s(outcomes),
       0.005}};
  if (summary["over_limit"] > 0)
    bars.push_back({"balancing: iteration over the practical limit", summary["over_limit"], 1.02});
  if (scratch["cases"] > 0) {
    bars.push_back({"from scratch: weighted traffic over the mapper's",
                    scratch["traffic_over_mapper"], kMapper.max_traffic_ratio});
    bars.push_back({"from scratch: time over the mapper's", scratch["time_over_mapper"], 1});
    bars.push_back({"from scratch: cases over the load cap",
                    scratch["cases"].get<double>() - scratch["within_load_cap"].get<double>(), 0});
  }
  if (const json& strong = summary["from_scratch_against_strong"]; strong["cases"] > 0)
    bars.push_back({"from scratch: weighted traffic over the strong mapper's",
                    strong["traffic_over_mapper"], kStrongMapper.max_traffic_ratio});
  return bars;
}

json to_json(const Bar& bar) {
  const bool is_held = bar.value <= bar.most;
  fmt::print("{:8} {:70} {:.4g}, at most {:.4g}\n", is_held ? "held" : "NOT HELD", bar.text,
             bar.value, bar.most);
  return {{"bar", bar.text}, {"value", bar.value}, {"most", bar.most}, {"held", is_held}};
}

json to_json(const Outcome& outcome) {
  json rows;
  for (const Row& row : outcome.rows)
    rows[row.tool] = {{"iteration_s", row.metrics.iteration_s},
                      {"migrations", row.metrics.migrations},
                      {"nuco_messages", row.metrics.nuco_messages},
                      {"decision_s", row.decision_s}};
  json result = {{"name", "mapping/" + outcome.name},
                 {"tasks", outcome.num_tasks},
                 {"makespan_bound_s", outcome.bound_s},
                 {"tools", rows}};
  if (outcome.limit_s > 0) result["limit_s"] = outcome.limit_s;
  if (outcome.from_scratch)
    result["tools"][kOursFromScratch] = {
        {"nuco_messages", outcome.from_scratch->metrics.nuco_messages},
        {"iteration_s", outcome.from_scratch->metrics.iteration_s},
        {"migrations", outcome.from_scratch->metrics.migrations},
        {"within_load_cap", holds_cap(*outcome.from_scratch)},
        {"decision_s", outcome.from_scratch->decision_s}};
  return result;
}

}  // namespace

Outcome outcome_of(const Instance& instance, const Contest& contest) {
  Outcome outcome{instance.name,
                  instance.machine.num_places(),
                  instance.weighs_messages,
                  instance.workload.num_tasks(),
                  0,
                  0,
                  {},
                  {}};
  std::vector<Choice> tools = parse_strategies(contest.peers);
  tools.insert(tools.begin(), parse_strategy(kOurs));
  for (const Choice& tool : tools)
    if (auto answer = answer_of(tool, instance))
      outcome.rows.push_back(judged(tool.text(), instance, std::move(*answer)));
  for (auto& [tool, answer] : answers_in(contest.import_from, instance))
    outcome.rows.push_back(judged(tool, instance, std::move(answer)));
  outcome.bound_s = outcome.ours().metrics.makespan_bound_s;
  if (!instance.workload.messages.empty())
    if (auto answer = answer_of(parse_strategy(kOursFromScratch), instance))
      outcome.from_scratch = judged(kOursFromScratch, instance, std::move(*answer));
  if (!contest.limit.empty())
    if (auto answer = answer_of(parse_strategy(contest.limit), instance))
      outcome.limit_s = judged(contest.limit, instance, std::move(*answer)).metrics.iteration_s;
  return outcome;
}

void print(const Outcome& outcome) {
  const Row& ours = outcome.ours();
  fmt::print("{:44} bound {:.4g} ours {:.4g} {:4.1f}% {:.4f}s", outcome.name, outcome.bound_s,
             ours.metrics.iteration_s, percent_moved(outcome, ours), ours.decision_s);
  for (const bool only_outside : {false, true})
    if (const Row* peer = outcome.best_peer(only_outside))
      fmt::print(" | {} {:.4g} {:4.1f}% {:.4f}s {:.3f}", peer->tool, peer->metrics.iteration_s,
                 percent_moved(outcome, *peer), peer->decision_s,
                 ours.metrics.iteration_s / peer->metrics.iteration_s);
  if (outcome.limit_s > 0)
    fmt::print(" | limit {:.4g} {:.3f}", outcome.limit_s,
               ours.metrics.iteration_s / outcome.limit_s);
  fmt::print("\n");
  std::fflush(stdout);
}

json report_of(const std::vector<Outcome>& outcomes) {
  json summary = summary_of(outcomes);
  for (const Bar& bar : bars_of(summary, outcomes)) summary["bars"].push_back(to_json(bar));
  json rows = json::array({summary});
  for (const Outcome& outcome : outcomes) rows.push_back(to_json(outcome));
  return rows;
}

}  // namespace poise::mapping
