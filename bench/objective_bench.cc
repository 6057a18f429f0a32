// SPDX-License-Identifier: BSD-3-Clause
// Measures how near the strategy `poise` comes to the shortest total time (steps * iteration +
// migration) that any strategy reaches. It is compared with the other strategies of Poise, with
// outside tools, and with keeping the current placement. The placement of an outside tool is judged
// in two variants: as the tool returns it, and with its parts renumbered so that as much load as
// possible stays where it is.
//
//     objective_bench [--seed=N] [--draws=N] [--only=TEXT] [--model=nuco|physical]
//                     [--ours=STRATEGY] [--few] [--rows] [--alone]
//                     [--benchmark_out=FILE]
//
// A cell is a combination of a kind of workload, one of four machines, and one of four numbers of
// tasks. From each cell, --draws cases are drawn at random with --seed. A case has a factor for the
// sizes of all tasks (0, 1, 10 or 100), a number of steps from 1 to 1,000, and a start: either the
// usual initial placement of the kind ("fresh"), or a placement that was balanced before the loads
// drifted. Total times are predictions, so they are the same in every run; only the CPU seconds of
// Poise's decisions are measured. --rows prints every case. --alone compares only with keeping the
// placement, for use under a profiler. --few draws other cases instead: fewer tasks than places,
// all of them on 1 to 4 places of a large machine.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/objective/cases.h"
#include "bench/options.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/placement/fair_shares.h"
#include "poise/placement/metrics.h"
#include "poise/placement/renaming.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace {

using namespace poise;
using namespace poise::bench;
using nlohmann::json;

struct ObjectiveOptions {
  CaseChoice cases;
  std::string ours = "poise", out;
  bool has_rows = false, is_alone = false;
};

struct Answer {
  std::string strategy;
  double total_s = 0, moved = 0;  // total time; share of the tasks that moved
  double decision_s = 0;          // CPU time
};

struct Result {
  std::string name, kind, start;
  CostFormula formula;
  std::uint64_t size_factor;
  double steps;
  /// `ours` is the answer of the measured strategy. The other members are the best answers of other
  /// strategies: of all of them (`best`), of those that decided within decision_limit_s of CPU time
  /// (`best_in_time`), and of outside tools (`best_outside`).
  Answer ours, best, best_in_time, best_outside;
  /// keep_s: total time with the current placement. decision_limit_s: maximum CPU time that the
  /// decision for `ours` should take.
  double keep_s = 0, decision_limit_s = 0;
  double bound_s = 0;  // lower bound on the total time: steps * lower bound on the makespan

  double ratio() const { return ratio_to(best); }
  double ratio_in_time() const { return ratio_to(best_in_time); }
  double ratio_outside() const {
    const double other_s = std::min(best_outside.total_s, keep_s);
    return other_s > 0 ? ours.total_s / other_s : 1;
  }

 private:
  double ratio_to(const Answer& other) const {
    return other.total_s > 0 ? ours.total_s / other.total_s : 1;
  }
};

Answer answer_of(const Case& of, const std::string& strategy, const Placement& placement,
                 double decision_s = 0) {
  const Metrics metrics =
      evaluate(of.machine, of.workload, of.machine.costs(), of.current, placement);
  return {strategy, of.steps * metrics.iteration_s + metrics.migration_s,
          1.0 * metrics.migrations / of.workload.num_tasks(), decision_s};
}

bool is_outside(std::string_view name) {
  return name.starts_with("metis") || name.starts_with("scotch");
}

/// Returns the placements of all other strategies. The placement of an outside tool appears in two
/// variants: as the tool returns it, and with its parts renumbered so that as much load as possible
/// stays where it is.
std::vector<Answer> others(const Case& of, bool only_keep) {
  if (only_keep) return {answer_of(of, "keep", of.current), answer_of(of, "scotch", of.current)};
  std::vector<std::string> names = {"scotch:remap=1"};
  for (const Strategy& strategy : strategies())
    if (!strategy.is_oracle && strategy.name != "poise") names.emplace_back(strategy.name);
  std::vector<Answer> answers;
  const std::vector<double> shares = fair_shares(of.machine, of.workload, of.current);
  for (const std::string& name : names) try {
      const double start_s = process_cpu_now_s();
      const Placement placed = parse_strategy(name).rebalance(of.problem());
      const double decision_s = process_cpu_now_s() - start_s;
      answers.push_back(answer_of(of, name, placed, decision_s));
      if (is_outside(name))
        answers.push_back(answer_of(
            of, name + " relabelled",
            renamed_to_stay(of.machine, of.workload, of.current, placed, shares), decision_s));
    } catch (const Error&) {  // the strategy needs positions, or its library is missing
    }
  return answers;
}

Result result_of(const Case& of, const std::string& kind, const ObjectiveOptions& options) {
  const std::string& ours = options.ours;
  Result result{of.name, kind, of.start, of.formula, of.size_factor, of.steps, {}, {}, {}, {}};
  const Choice choice = parse_strategy(
      fmt::format("{}{}steps={}", ours, ours.find(':') == std::string::npos ? ':' : ',', of.steps));
  const double start_s = process_cpu_now_s();
  const Placement placed = choice.rebalance(of.problem());
  result.ours = answer_of(of, ours, placed, process_cpu_now_s() - start_s);
  const auto shorter = [](const Answer& a, const Answer& b) { return a.total_s < b.total_s; };
  const std::vector<Answer> answers = others(of, options.is_alone);
  result.best = *std::min_element(answers.begin(), answers.end(), shorter);
  result.best_outside.total_s = std::numeric_limits<double>::infinity();
  for (const Answer& answer : answers) {
    if (is_outside(answer.strategy) && shorter(answer, result.best_outside))
      result.best_outside = answer;
    if (answer.strategy == "keep") result.keep_s = answer.total_s;
  }
  const Metrics keep =
      evaluate(of.machine, of.workload, of.machine.costs(), of.current, of.current);
  result.bound_s = of.steps * keep.makespan_bound_s;
  result.decision_limit_s =
      std::max(0.01 * of.steps * keep.iteration_s, 2e-3 + 3e-6 * of.workload.num_tasks());
  result.best_in_time = answer_of(of, "keep", of.current);  // keeping the placement takes no CPU
                                                            // time
  for (const Answer& answer : answers)
    if (answer.decision_s <= result.decision_limit_s && shorter(answer, result.best_in_time))
      result.best_in_time = answer;
  return result;
}

/// Returns the value below which the fraction `part` of the sorted values lies.
double quantile(const std::vector<double>& sorted, double part) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

json distribution_of(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  const auto behind =
      std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 1.001; });
  return {{"mean", sum / static_cast<double>(ratios.size())},
          {"median", quantile(ratios, 0.5)},
          {"behind", 1.0 * behind / ratios.size()},
          {"percentile_99", quantile(ratios, 0.99)},
          {"worst", ratios.back()}};
}

json summary_of(const std::string& name, const std::vector<const Result*>& results) {
  std::vector<double> ratios, in_time_ratios, outside;
  double decision_s = 0;
  int in_time = 0;
  for (const Result* result : results) {
    ratios.push_back(result->ratio());
    in_time_ratios.push_back(result->ratio_in_time());
    outside.push_back(result->ratio_outside());
    decision_s += result->ours.decision_s;
    in_time += result->ours.decision_s <= result->decision_limit_s;
  }
  json row{{"name", name}, {"cases", results.size()}};
  row["total_over_best"] = distribution_of(std::move(ratios));
  row["total_over_best_in_time"] = distribution_of(std::move(in_time_ratios));
  row["total_over_outside_tools"] = distribution_of(std::move(outside));
  row["decision_s"] = decision_s;
  row["decided_in_time"] = 1.0 * in_time / results.size();
  return row;
}

/// Groups the cases by each of their properties, and lists the cases in which another strategy has
/// a shorter total time than `poise`.
json report_of(const std::vector<Result>& results) {
  std::map<std::string, std::vector<const Result*>> groups;
  json behind = json::array();
  for (const Result& result : results) {
    const std::string model(name_of(result.formula));
    for (const std::string& group :
         {std::string("all"), fmt::format("start={}", result.start),
          fmt::format("steps={}", result.steps), fmt::format("sizes*{}", result.size_factor),
          fmt::format("kind={}", result.kind)})
      groups[model + " " + group].push_back(&result);
    if (result.ratio() > 1.001)
      behind.push_back({{"name", "behind: " + result.name},
                        {"total_over_best", result.ratio()},
                        {"total_s", result.ours.total_s},
                        {"moved", result.ours.moved},
                        {"best", result.best.strategy},
                        {"best_decision_s", result.best.decision_s},
                        {"decision_limit_s", result.decision_limit_s},
                        {"best_total_s", result.best.total_s},
                        {"best_moved", result.best.moved},
                        {"keep_total_s", result.keep_s}});
  }
  json rows = json::array();
  for (const auto& [name, members] : groups) rows.push_back(summary_of(name, members));
  for (json& row : behind) rows.push_back(std::move(row));
  return rows;
}

void print_row(const Result& result) {
  fmt::print(
      "{:.4f} moved {:.3f} {:.1f} of {:.1f} ms {}: {} {:.4g}, moved {:.3f}, {:.1f} ms; keep "
      "{:.4f}, "
      "bound {:.4f}; in time {:.4f}\n",
      result.ratio(), result.ours.moved, 1e3 * result.ours.decision_s,
      1e3 * result.decision_limit_s, result.name, result.best.strategy, result.best.total_s,
      result.best.moved, 1e3 * result.best.decision_s, result.keep_s / result.best.total_s,
      result.bound_s / result.best.total_s, result.ratio_in_time());
  std::fflush(stdout);
}

ObjectiveOptions options_of(int argc, char** argv) {
  ObjectiveOptions options;
  const std::map<std::string, std::string*> texts = {{"--only", &options.cases.only},
                                                     {"--model", &options.cases.model},
                                                     {"--ours", &options.ours},
                                                     {"--benchmark_out", &options.out}};
  bench::for_each_option(argc, argv, "bench/objective_bench.cc",
                         [&](const std::string& name, const std::string& value) {
                           if (name == "--seed")
                             options.cases.seed = std::stoull(value);
                           else if (name == "--draws")
                             options.cases.draws = std::stoull(value);
                           else if (name == "--rows")
                             options.has_rows = true;
                           else if (name == "--few")
                             options.cases.has_few_tasks = true;
                           else if (name == "--alone")
                             options.is_alone = true;
                           else if (const auto text = texts.find(name); text != texts.end())
                             *text->second = value;
                           else
                             return false;
                           return true;
                         });
  return options;
}

void print_summary(const json& row) {
  const json& all = row["total_over_best"];
  const json& outside = row["total_over_outside_tools"];
  const json& quick = row["total_over_best_in_time"];
  fmt::print(
      "{:<28} {:>4} cases  mean {:.4f} median {:.4f} behind {:.3f} p99 {:.4f} worst {:.4f}"
      "  outside mean {:.4f}  in time {:.3f}; to answers in time: behind {:.3f} p99 {:.4f} worst "
      "{:.4f}\n",
      row["name"].get<std::string>(), row["cases"].get<int>(), all["mean"].get<double>(),
      all["median"].get<double>(), all["behind"].get<double>(), all["percentile_99"].get<double>(),
      all["worst"].get<double>(), outside["mean"].get<double>(),
      row["decided_in_time"].get<double>(), quick["behind"].get<double>(),
      quick["percentile_99"].get<double>(), quick["worst"].get<double>());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const ObjectiveOptions options = options_of(argc, argv);
    std::vector<Result> results;
    for_each_case(options.cases, [&](const Case& one, const Kind& kind) {
      results.push_back(result_of(one, std::string(kind.name), options));
      if (options.has_rows) print_row(results.back());
    });
    const json rows = report_of(results);
    for (const json& row : rows)
      if (row.contains("cases")) print_summary(row);
    if (!options.out.empty())
      write_file(options.out, json{{"context", json::object()}, {"benchmarks", rows}}.dump(1));
  } catch (const Error& error) {
    fmt::print(stderr, "objective_bench: {}\n", error.what());
    return 2;
  }
}
