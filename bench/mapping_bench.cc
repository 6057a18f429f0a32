// The strategy `poise` against every mapping tool at a balancing step: workloads of many kinds that
// have drifted since they were balanced, one decision of each, judged by the predicted iteration.
//
//     mapping_bench [--quick] [--only=TEXT] [--peers=A,B:KNOB=VALUE,…] [--limit=STRATEGY]
//                   [--seed=N] [--recipes=A|B…] [--machines=A|B…] [--tasks=N,M…]
//                   [--traces=FOLDER] [--export=DIR | --import=DIR] [--benchmark_out=FILE]
//
// What a phase is balanced with before it drifts takes turns: scotch, nuco, poise; another --seed
// makes other cases, and begins with another of these. Other cases still come from other recipes,
// machines and numbers of tasks. Times are CPU seconds of all threads, the least of several calls.
// --export writes the cases for tools outside the library (mapping_peers.py) and --import judges
// the placements that they left. Traces are those of $POISE_TEST_DATA/traces unless told. --limit
// takes a strategy to show the practical limit, such as anneal; it is no peer.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/metis_graph.h"
#include "poise/trace/placement_file.h"
#include "poise/trace/trace.h"
#include "poise/workload/generate.h"

namespace {

using namespace poise;
using nlohmann::json;

constexpr const char* kOurs = "poise";
constexpr const char* kOursAnew = "poise:from_scratch=1";
/// Who sets the bar for a placement made anew, and by how much its traffic may be exceeded.
struct Mapper {
  const char* tool;
  double most_traffic;
};
constexpr Mapper kMapper = {"scotch:effort=best", 1};
/// SharedMap, strong: slow, and a few per cent better (mapping_peers.py).
constexpr Mapper kStrongMapper = {"sharedmap", 1.05};
/// What a placement made anew may exceed the bound on the makespan by.
constexpr double kLoadCap = 1.0501;
/// The strategies that are this project's own code; the other tools are the work of others.
constexpr const char* kInside[] = {"poise",       "nuco",        "numa",
                                   "greedy_comm", "refine_comm", "treematch"};

constexpr const char* kPeers =
    "nuco,numa,greedy_comm,refine_comm,treematch,metis,scotch,scotch:effort=best,scotch:remap=1";

/// What drifts, and whether messages rather than loads decide there.
struct KindOfCase {
  std::string recipe;
  bool weighs_messages;
};
const KindOfCase kKinds[] = {
    {"stencil2d", false}, {"stencil3d", false}, {"stencil3d:messages=10", true},
    {"stencil4d", false}, {"geometric", true},  {"random", false},
    {"rmat", true},       {"leanmd", true},     {"ring:hot=2", false},
    {"commbench", true},
};

const std::string kMachines[] = {
    "node:4 numa:2 core:4 factors:10,1.5,1",
    "numa:8 core:6 factors:2,1",
    "node:20 numa:2 core:2 factors:10,1.53,1",
};
constexpr const char* kLargeMachine = "node:32 numa:4 core:8 factors:10,1.5,1";
constexpr TaskId kTasks[] = {480, 1'500, 6'000};
constexpr TaskId kManyTasks[] = {30'000, 97'336};

struct Case {
  std::string name, machine_text;
  bool weighs_messages = false;
  Machine machine;
  Workload workload;
  Placement current;
};

struct Options {
  bool quick = false;
  std::string seed = "0", recipes, machines, tasks;
  std::string only, peers = kPeers, limit, traces, export_to, import_from, out;
};

struct Answer {
  Placement placement;
  double decision_s = 0;
};

struct Row {
  std::string tool;
  Metrics metrics;
  double decision_s = 0;
  bool is_outside = false;  // a mapping tool of others, not a strategy of this project
};

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Nothing where the tool cannot answer: built without its library, or not for this machine.
std::optional<Answer> answer_of(const Choice& choice, const Case& now) {
  constexpr double kEnough_s = 0.03;
  constexpr int kMostCalls = 5;
  const Problem problem{now.machine, now.workload, now.current, now.machine.costs(), 1};
  Answer answer{{}, 1e300};
  try {
    double spent_s = 0;
    for (int call = 0; call < kMostCalls && spent_s < kEnough_s; ++call) {
      const double start_s = cpu_s();
      answer.placement = choice.rebalance(problem);
      const double took_s = cpu_s() - start_s;
      answer.decision_s = std::min(answer.decision_s, took_s);
      spent_s += took_s;
    }
  } catch (const Error& error) {
    static std::set<std::string> said;
    if (said.insert(choice.text()).second)
      fmt::print("without {}: {}\n", choice.text(), error.what());
    return std::nullopt;
  }
  return answer;
}

/// What the phases before were balanced with; another where the library for it is missing.
Placement balanced(const std::string& strategy, const Machine& machine, const Workload& workload) {
  const Placement start = blocked(workload.num_tasks(), machine.num_places());
  const Problem problem{machine, workload, start, machine.costs(), 1};
  try {
    return parse_strategy(strategy).rebalance(problem);
  } catch (const Error&) {
    return parse_strategy("greedy_comm").rebalance(problem);
  }
}

std::string drifting(const std::string& recipe) {
  if (recipe.find("drift=") != std::string::npos) return recipe;
  return recipe + (recipe.find(':') == std::string::npos ? ":" : ",") + "drift=0.2";
}

Case drifted_case(const KindOfCase& kind, const std::string& machine_text, TaskId num_tasks,
                  int number) {
  constexpr const char* kStarts[] = {"scotch", "nuco", "poise"};
  const std::string recipe = drifting(kind.recipe);
  auto phases = generate(parse_recipe(recipe), num_tasks, static_cast<std::uint64_t>(number), 2);
  Machine machine = machine_from_text(machine_text);
  Placement current = balanced(kStarts[number % 3], machine, phases[0]);
  return {fmt::format("{}-{}-{}", recipe, phases[1].num_tasks(), machine.num_places()),
          machine_text,
          kind.weighs_messages,
          std::move(machine),
          std::move(phases[1]),
          std::move(current)};
}

/// What was asked for, or else the usual.
template <typename T, std::size_t size, typename Read>
std::vector<T> asked_or(const std::string& text, char separator, const T (&usual)[size],
                        const Read& read) {
  if (text.empty()) return {std::begin(usual), std::end(usual)};
  std::vector<T> asked;
  for (const std::string_view word : split(text, separator)) asked.push_back(read(word));
  return asked;
}

/// Calls visit with one case after the other; only one is in memory.
void for_each_drifted_case(const Options& options, const std::function<void(Case&&)>& visit) {
  constexpr int kFartherThanCases = 1'000;  // and no multiple of 3: the starts turn on
  int number = kFartherThanCases * std::stoi(options.seed);
  const auto make = [&](const KindOfCase& kind, const std::string& machine, TaskId num_tasks) {
    ++number;
    const std::string name = fmt::format("{}:{}", kind.recipe, num_tasks);
    if (name.find(options.only) == std::string::npos) return;
    visit(drifted_case(kind, machine, num_tasks, number));
  };
  const auto kinds = asked_or(options.recipes, '|', kKinds, [](std::string_view recipe) {
    return KindOfCase{std::string(recipe), false};
  });
  const auto machines =
      asked_or(options.machines, '|', kMachines, [](auto word) { return std::string(word); });
  const auto tasks = asked_or(options.tasks, ',', kTasks, [](auto word) {
    return static_cast<TaskId>(std::stoul(std::string(word)));
  });
  for (const KindOfCase& kind : kinds)
    for (const TaskId num_tasks : tasks) {
      if (options.quick && num_tasks > kTasks[1]) continue;
      for (const std::string& machine : machines) make(kind, machine, num_tasks);
    }
  if (options.quick || !(options.machines + options.tasks).empty()) return;
  for (const TaskId num_tasks : kManyTasks)
    for (const KindOfCase& kind : kinds)
      if (kind.recipe != "rmat" || num_tasks == kManyTasks[0])  // Scotch takes minutes with hubs
        make(kind, kLargeMachine, num_tasks);
}

/// FOLDER/STEM for each series STEM.RANK.json in the folders of a folder.
std::set<std::string> series_in(const std::string& traces) {
  std::set<std::string> series;
  for (const auto& folder : std::filesystem::directory_iterator(traces)) {
    if (!folder.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::filesystem::path stem = entry.path().stem();  // less .json
      if (entry.path().extension() == ".json" && stem.has_extension())
        series.insert(folder.path() / stem.stem());
    }
  }
  return series;
}

void for_each_recorded_case(const Options& options, const std::function<void(Case&&)>& visit) {
  if (options.traces.empty() || !std::filesystem::is_directory(options.traces)) return;
  for (const std::string& series : series_in(options.traces)) {
    const std::string stem = std::filesystem::path(series).filename();
    if (stem.find(options.only) == std::string::npos) continue;
    try {
      const Trace trace = read_trace(series);
      for (const Phase& phase : trace.phases) {
        const std::string text = fmt::format("core:{}", trace.num_places);
        visit({fmt::format("{}-phase{}", stem, phase.id), text, false, machine_from_text(text),
               phase.workload, phase.placement});
      }
    } catch (const Error& error) {
      fmt::print("without {}: {}\n", series, error.what());
    }
  }
}

void for_each_case(const Options& options, const std::function<void(Case&&)>& visit) {
  for_each_drifted_case(options, visit);
  for_each_recorded_case(options, visit);
}

/// A graph in METIS form, the current placement, and what the machine is. Edges weigh as many
/// messages as they stand for, since it is messages that the machines of the cases price.
void write_case(const std::string& folder, const Case& now) {
  Trace trace;
  Phase& phase = trace.phases.emplace_back();
  phase.workload = now.workload;
  for (Message& message : phase.workload.messages) message.bytes = 2 * message.count;
  const std::string stem = folder + "/" + now.name;
  write_file(stem + ".graph", metis::write_graph(trace));
  write_placement(stem + ".current", now.current);
  write_file(stem + ".machine", now.machine_text + "\n");
}

/// The answers of outside tools: CASE@TOOL.place and, with its seconds, CASE@TOOL.seconds.
std::map<std::string, Answer> answers_in(const std::string& folder, const Case& now) {
  std::map<std::string, Answer> answers;
  if (folder.empty()) return answers;
  const std::string start = now.name + "@";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (!file.starts_with(start) || entry.path().extension() != ".place") continue;
    Placement placement = read_placement(entry.path());
    check(placement, now.workload.num_tasks(), now.machine.num_places());
    auto seconds = entry.path();
    seconds.replace_extension(".seconds");
    const std::string tool = file.substr(start.size(), file.size() - start.size() - 6);
    answers[tool] = {std::move(placement), std::stod(read_file(seconds))};
  }
  return answers;
}

/// The judge of all: what is not movable is put back first, which outside tools may not know.
Row judged(const std::string& tool, const Case& now, Answer answer) {
  for (TaskId t = 0; t < now.workload.num_tasks(); ++t)
    if (!now.workload.tasks[t].movable) answer.placement.move(t, now.current.of(t));
  return {tool,
          evaluate(now.machine, now.workload, now.machine.costs(), now.current, answer.placement),
          answer.decision_s, std::any_of(std::begin(kInside), std::end(kInside), [&](auto* name) {
                               return tool.starts_with(name);
                             }) == false};
}

/// One case: the first row is ours.
struct Outcome {
  std::string name;
  std::uint32_t num_places;
  bool weighs_messages;
  TaskId num_tasks;
  double bound_s = 0, limit_s = 0;
  std::vector<Row> rows;
  std::optional<Row> anew;  // ours, from scratch

  const Row* row_of(std::string_view tool) const {
    for (const Row& row : rows)
      if (row.tool == tool) return &row;
    return nullptr;
  }
  const Row& ours() const { return rows.front(); }
  /// Nothing where there is no such peer.
  const Row* best_peer(bool only_outside) const {
    const Row* best = nullptr;
    for (const Row& row : std::span(rows).subspan(1))
      if ((row.is_outside || !only_outside) &&
          (best == nullptr || row.metrics.iteration_s < best->metrics.iteration_s))
        best = &row;
    return best;
  }
  /// Of the peers within a twentieth of our iteration the one that decides first, if any.
  const Row* fastest_equal(bool only_outside) const {
    const Row* fastest = nullptr;
    for (const Row& row : std::span(rows).subspan(1))
      if ((row.is_outside || !only_outside) &&
          row.metrics.iteration_s <= 1.05 * ours().metrics.iteration_s &&
          (fastest == nullptr || row.decision_s < fastest->decision_s))
        fastest = &row;
    return fastest;
  }
};

Outcome outcome_of(const Case& now, const Options& options) {
  Outcome outcome{
      now.name, now.machine.num_places(), now.weighs_messages, now.workload.num_tasks(), 0, 0, {},
      {}};
  std::vector<Choice> tools = parse_strategies(options.peers);
  tools.insert(tools.begin(), parse_strategy(kOurs));
  for (const Choice& tool : tools)
    if (auto answer = answer_of(tool, now))
      outcome.rows.push_back(judged(tool.text(), now, std::move(*answer)));
  for (auto& [tool, answer] : answers_in(options.import_from, now))
    outcome.rows.push_back(judged(tool, now, std::move(answer)));
  outcome.bound_s = outcome.ours().metrics.makespan_bound_s;
  if (!now.workload.messages.empty())
    if (auto answer = answer_of(parse_strategy(kOursAnew), now))
      outcome.anew = judged(kOursAnew, now, std::move(*answer));
  if (!options.limit.empty())
    if (auto answer = answer_of(parse_strategy(options.limit), now))
      outcome.limit_s = judged(options.limit, now, std::move(*answer)).metrics.iteration_s;
  return outcome;
}

double percent_moved(const Outcome& outcome, const Row& row) {
  return 100.0 * static_cast<double>(row.metrics.migrations) / outcome.num_tasks;
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

/// The geometric mean of a figure over those cases that have one.
class Mean {
 public:
  void add(double value) { sum_ += std::log(value), ++count_; }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

/// Us against the best peer of each case: all peers, or only the tools of others.
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

/// Placements made anew: traffic weighted by distance, time, and whether the load cap is held.
json anew_against(const Mapper& who, const std::vector<Outcome>& outcomes) {
  int cases = 0, ours_hold = 0, theirs_hold = 0;
  Mean traffic, time;
  for (const Outcome& outcome : outcomes) {
    const Row* mapper = outcome.row_of(who.tool);
    if (mapper == nullptr || !outcome.anew || mapper->metrics.nuco_messages == 0) continue;
    ++cases;
    ours_hold += holds_cap(*outcome.anew);
    theirs_hold += holds_cap(*mapper);
    traffic.add(outcome.anew->metrics.nuco_messages / mapper->metrics.nuco_messages);
    time.add(outcome.anew->decision_s / mapper->decision_s);
  }
  return {{"mapper", who.tool},
          {"cases", cases},
          {"traffic_over_mapper", traffic.value()},
          {"time_over_mapper", time.value()},
          {"within_load_cap", ours_hold},
          {"mapper_within_load_cap", theirs_hold}};
}

json summary_of(const std::vector<Outcome>& outcomes) {
  constexpr double kLeastPercent = 0.1;
  Mean over_limit, over_bound;
  std::map<std::string, Mean> moved, over_ours;
  for (const Outcome& outcome : outcomes) {
    const double ours_s = outcome.ours().metrics.iteration_s;
    if (outcome.limit_s > 0) over_limit.add(ours_s / outcome.limit_s);
    if (outcome.bound_s > 0) over_bound.add(ours_s / outcome.bound_s);
    for (const Row& row : outcome.rows) {
      moved[row.tool].add(std::max(kLeastPercent, percent_moved(outcome, row)));
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
          {"from_scratch", anew_against(kMapper, outcomes)},
          {"from_scratch_against_strong", anew_against(kStrongMapper, outcomes)},
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

/// What the strategy is to reach: at most `most`. Peers are the tools of others.
struct Bar {
  const char* text;
  double value, most;
};

std::vector<Bar> bars_of(const json& summary, const std::vector<Outcome>& outcomes) {
  const json &others = summary["against_tools_of_others"], &anew = summary["from_scratch"];
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
  if (anew["cases"] > 0) {
    bars.push_back({"anew: weighted traffic over the mapper's", anew["traffic_over_mapper"],
                    kMapper.most_traffic});
    bars.push_back({"anew: time over the mapper's", anew["time_over_mapper"], 1});
    bars.push_back({"anew: cases over the load cap",
                    anew["cases"].get<double>() - anew["within_load_cap"].get<double>(), 0});
  }
  if (const json& strong = summary["from_scratch_against_strong"]; strong["cases"] > 0)
    bars.push_back({"anew: weighted traffic over the strong mapper's",
                    strong["traffic_over_mapper"], kStrongMapper.most_traffic});
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
  if (outcome.anew)
    result["tools"][kOursAnew] = {{"nuco_messages", outcome.anew->metrics.nuco_messages},
                                  {"iteration_s", outcome.anew->metrics.iteration_s},
                                  {"migrations", outcome.anew->metrics.migrations},
                                  {"within_load_cap", holds_cap(*outcome.anew)},
                                  {"decision_s", outcome.anew->decision_s}};
  return result;
}

void report(const std::vector<Outcome>& outcomes, const Options& options) {
  json summary = summary_of(outcomes);
  for (const Bar& bar : bars_of(summary, outcomes)) summary["bars"].push_back(to_json(bar));
  json rows = json::array({summary});
  for (const Outcome& outcome : outcomes) rows.push_back(to_json(outcome));
  fmt::print("{}\n", rows[0].dump(1));
  if (!options.out.empty())
    write_file(options.out, json{{"context", {{"num_cpus", std::thread::hardware_concurrency()}}},
                                 {"benchmarks", rows}}
                                .dump(1));
}

Options options_of(int argc, char** argv) {
  Options options;
  if (const char* data = std::getenv("POISE_TEST_DATA"))
    options.traces = std::string(data) + "/traces";
  const std::map<std::string, std::string*> texts = {
      {"--seed", &options.seed},         {"--recipes", &options.recipes},
      {"--machines", &options.machines}, {"--tasks", &options.tasks},
      {"--only", &options.only},         {"--peers", &options.peers},
      {"--limit", &options.limit},       {"--traces", &options.traces},
      {"--export", &options.export_to},  {"--import", &options.import_from},
      {"--benchmark_out", &options.out}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const auto text = texts.find(argument.substr(0, equals));
    if (argument == "--quick")
      options.quick = true;
    else if (text != texts.end() && equals != std::string::npos)
      *text->second = argument.substr(equals + 1);
    else if (!argument.starts_with("--benchmark_"))
      fail("no option \"{}\"; see the head of bench/mapping_bench.cc", argument);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = options_of(argc, argv);
    if (!options.export_to.empty()) {
      for_each_case(options, [&](Case&& now) { write_case(options.export_to, now); });
      return 0;
    }
    std::vector<Outcome> outcomes;
    for_each_case(options, [&](Case&& now) {
      outcomes.push_back(outcome_of(now, options));
      print(outcomes.back());
    });
    if (!outcomes.empty()) report(outcomes, options);
  } catch (const Error& error) {
    fmt::print(stderr, "mapping_bench: {}\n", error.what());
    return 2;
  }
}
