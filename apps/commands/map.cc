// SPDX-License-Identifier: BSD-3-Clause
// `poise map`: decides where each rank of an unmodified MPI program should run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/analysis/decision.h"
#include "apps/analysis/inputs.h"
#include "apps/analysis/launch_files.h"
#include "apps/commands/commands.h"
#include "apps/report/metrics.h"
#include "apps/text/command_line.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/machine/find.h"
#include "poise/partition/rank_map.h"
#include "poise/partition/rank_slots.h"
#include "poise/search/tuning.h"
#include "poise/trace/placement_file.h"

namespace poise::apps {

namespace {

constexpr const char* kOwnStrategy = "map";

struct MapOptions {
  InputOptions input;
  std::string strategy = kOwnStrategy, limit{kExecLimit}, output, distance = "hops";
  std::uint64_t capacity = 1, cores = 1;
  std::string launcher, launch_file, hosts;
  bool json = false;
};

/// Returns the names in a comma-separated list, or in a file with one name per line. Throws Error
/// if a name appears twice, as in PBS_NODEFILE, or contains a blank, as do lines of a launcher's
/// host file such as "node1 slots=4".
std::vector<std::string> hosts_of(const std::string& list) {
  std::error_code error;
  // A pipe counts as a file: --hosts <(scontrol show hostnames).
  const bool is_file =
      std::filesystem::exists(list, error) && !std::filesystem::is_directory(list, error);
  const std::string text = is_file ? read_file(list) : list;
  std::vector<std::string> hosts;
  std::set<std::string> names;
  for (std::string_view word : split(without_byte_order_mark(text), is_file ? '\n' : ',')) {
    constexpr std::string_view kBlanks = " \t\r\n";
    word.remove_prefix(std::min(word.find_first_not_of(kBlanks), word.size()));
    word = word.substr(0, word.find_last_not_of(kBlanks) + 1);
    if (word.empty()) continue;
    if (word.find_first_of(kBlanks) != word.npos)
      fail(
          "--hosts: \"{}\" is not the name of a node, because it contains a blank; write only the "
          "name",
          word);
    if (!names.emplace(word).second)
      fail("--hosts: node \"{}\" is named twice; name each node once", word);
    hosts.emplace_back(word);
  }
  return hosts;
}

RankMapOptions rank_map_options(const MapOptions& options) {
  RankMapOptions map{.distance = distance_named(options.distance)};
  const auto most = std::uint64_t{1} << 20;
  map.shape.ranks_per_place = std::min(options.capacity, most);
  map.shape.cores_per_rank = std::min(options.cores, most);
  map.shape.fills_nodes =
      !options.launcher.empty() && fills_nodes(launcher_named(options.launcher));
  map.effort.seed = options.input.seed;
  return map;
}

/// Throws Error with the reason why the user's map cannot be used: a rank is on a place where no
/// slot begins (rank_slots.h), or a place has more ranks than slots.
[[noreturn]] void refuse_start(const std::string& file, const Problem& problem,
                               const RankShape& shape) {
  const TaskId ranks = problem.current.num_tasks();
  const std::vector<PlaceId> slots = rank_slots(problem.machine, ranks, shape, &problem.current);
  std::map<PlaceId, std::size_t> ranks_at;
  for (TaskId r = 0; r < ranks; ++r)
    if (++ranks_at[problem.current.of(r)] > shape.ranks_per_place)
      fail(
          "{}: this map puts more ranks on one place than --capacity allows ({}); raise --capacity",
          file, count_text(shape.ranks_per_place, "rank"));
  const auto has_slot = [&](TaskId r) {
    const PlaceId place = problem.current.of(r);
    return ranks_at[place] <= std::ranges::equal_range(slots, place).size();
  };
  TaskId r = 0;
  while (has_slot(r)) ++r;
  fail("{}: this map puts rank {} on place {}, which is not allowed: {}", file, r,
       problem.current.of(r),
       shape.fills_nodes
           ? "this launcher fills the nodes in order, so each place before the last used place "
             "must hold as many ranks as fit on it"
           : fmt::format("with --cores {0} ranks begin at the cores 0, {0}, 2 x {0}, ... of a "
                         "memory domain, or of a node if its domains have fewer than {0} cores",
                         shape.cores_per_rank));
}

/// Returns the map with which the new map is compared: the map that the user gave, or else the
/// recorded map. If there is neither, or if ranks of the recorded map have no slots of their own,
/// returns the map in block order. Throws Error if ranks of the user's map have no slots of their
/// own.
Placement before(const MapOptions& options, const Inputs& inputs, const Problem& problem,
                 const RankMapOptions& map) {
  const bool is_given = !options.input.current.empty();
  const bool is_known = is_given || inputs.phase().placement.num_tasks() > 0;
  if (is_known && is_one_per_slot(problem.machine, problem.current, map.shape))
    return problem.current;
  if (is_given) refuse_start(options.input.current, problem, map.shape);
  return in_block_order(problem.machine, problem.workload, map.shape);
}

/// Returns the chosen strategy as a contender whose placement is a map of ranks. A strategy for
/// load balancing treats all ranks as equally loaded. If the strategy puts more ranks on a place
/// than the place has slots, the surplus ranks are moved to the nearest free slots. Poise's own
/// strategy stores in `tried` which maps it tried.
Contender mapper(const MapOptions& options, const RankMapOptions& map, TriedMap& tried) {
  const double exec_limit_s = limit_s(options.limit);
  if (options.strategy == kOwnStrategy)
    return {kOwnStrategy, [map, &tried](const Problem& problem) {
              tried = try_maps(problem.machine, problem.workload, &problem.current, map);
              return tried.placement;
            }};
  const Contender contender = contender_named(options.strategy, exec_limit_s);
  return {contender.name, [map, contender](const Problem& problem) {
            Workload equal = problem.workload;
            for (Task& task : equal.tasks) task.load_s = 1, task.movable = true;
            equal.background_s.clear();
            const Placement placement = contender.decide(
                {problem.machine, equal, problem.current, problem.costs, problem.seed});
            return one_per_slot(problem.machine, problem.workload, placement, map);
          }};
}

std::string table_of(const MapCost& before, const MapCost& after, std::string_view distance,
                     bool counts_messages) {
  Table table{.headings = {"", "before", "after", "change"}, .rows = {}};
  const auto amount_text = [&](double amount) {
    return counts_messages ? fmt::format("{:.10g}", amount) : bytes_text(amount);
  };
  const auto add = [&](std::string name, double was, double is) {
    table.rows.push_back(
        {.cells = {std::move(name), amount_text(was), amount_text(is), change_text(is, was)}});
  };
  const auto number = [](std::uint64_t bytes) -> double { return bytes; };
  add(fmt::format("{} x {}", counts_messages ? "messages" : "bytes", distance), before.traffic,
      after.traffic);
  add("between nodes", number(before.internode_bytes), number(after.internode_bytes));
  add("busiest node", number(before.busiest_node_bytes), number(after.busiest_node_bytes));
  add("busiest card", number(before.busiest_card_bytes), number(after.busiest_card_bytes));
  return render(table, terminal_width());
}

nlohmann::ordered_json json_of_cost(const MapCost& cost) {
  return {{"traffic", cost.traffic},
          {"internode_bytes", cost.internode_bytes},
          {"busiest_node_bytes", cost.busiest_node_bytes},
          {"busiest_card_bytes", cost.busiest_card_bytes}};
}

struct Result {
  std::string strategy;
  Decision decision;
  MapCost before, after;
  LaunchPlan launch;
  bool is_kept = false;  // no better map was found, so `decision` holds the initial map
};

/// True if the new map lowers at least one cost by more than the fraction kTuning.same_total. If
/// all differences are smaller, the maps are regarded as equally good, and ranks should not move.
bool is_lower(const MapCost& after, const MapCost& before) {
  const auto falls = [](double is, double was) { return is < (1 - kTuning.same_total) * was; };
  const auto number = [](std::uint64_t bytes) -> double { return bytes; };
  return falls(after.traffic, before.traffic) ||
         falls(number(after.internode_bytes), number(before.internode_bytes)) ||
         falls(number(after.busiest_node_bytes), number(before.busiest_node_bytes)) ||
         falls(number(after.busiest_card_bytes), number(before.busiest_card_bytes));
}

/// Chooses the map and computes the costs of both maps. Returns `current` if the strategy `map`
/// finds nothing better.
Result result_of(const Contender& contender, const Problem& problem, const Placement& current,
                 Distance distance) {
  const auto cost = [&](const Placement& placement) {
    return map_cost(problem.machine, problem.workload, placement, distance);
  };
  Result result{contender.name, decide(contender, problem), cost(current), {}, {}};
  result.after = cost(result.decision.placement);
  if (contender.name == kOwnStrategy && !is_lower(result.after, result.before)) {
    result.decision.placement = current;
    result.after = result.before;
    result.is_kept = true;
  }
  return result;
}

/// Says that the ranks stay, and which maps were tried.
std::string kept_text(const TriedMap& tried, const Machine& machine) {
  const NodeId all = machine.num_nodes();
  std::string nodes;
  if (tried.nodes < all) nodes = fmt::format(" on {} of the {} nodes", tried.nodes, all);
  return fmt::format("\nNo map{}{} lowers a row by {:.2g} % or more, so the ranks stay in place.\n",
                     tried.tried_all ? "" : " that was tried", nodes, 100 * kTuning.same_total);
}

std::string text_of(const MapOptions& options, const Inputs& inputs, const Problem& problem,
                    const Result& result, const TriedMap& tried) {
  std::string text =
      heading_text(options.input, inputs.phase(), problem.machine, inputs.counted_phases()) +
      fmt::format("{}: decided in {} of CPU time ({} wall)\n\n", result.strategy,
                  seconds_text(result.decision.cpu_s), seconds_text(result.decision.wall_s)) +
      table_of(result.before, result.after, options.distance,
               MessageSize(problem.workload).counts_messages());
  if (result.is_kept) text += kept_text(tried, problem.machine);
  for (const std::string& command : result.launch.commands) text += "\n" + command;
  return result.launch.commands.empty() ? text : text + "\n";
}

std::string json_text(const MapOptions& options, const Inputs& inputs, const Problem& problem,
                      const Result& result) {
  nlohmann::ordered_json json{{"strategy", result.strategy}, {"distance", options.distance}};
  json.update(json_of_problem(options.input, inputs.phase(), problem.machine));
  if (inputs.counted_phases() > 1) json["phase"] = nullptr;
  json["decision_s"] = result.decision.cpu_s;
  json["decision_wall_s"] = result.decision.wall_s;
  json["before"] = json_of_cost(result.before);
  json["after"] = json_of_cost(result.after);
  json["kept"] = result.is_kept;
  if (!options.launcher.empty()) {
    json["launcher"] = options.launcher;
    json["files"] = nlohmann::ordered_json::array();
    for (const LaunchFile& file : result.launch.files) json["files"].push_back(file.path);
    json["commands"] = result.launch.commands;
  }
  return document_text(json);
}

void map_trace(MapOptions& options) {
  if (options.launcher.empty() && !(options.launch_file.empty() && options.hosts.empty()))
    fail("--launch-file and --hosts have an effect only together with --for LAUNCHER");
  const bool prints_placement = options.output == "-";
  if (prints_placement && options.json)
    fail("--output - and --json both write to stdout; drop one");
  std::vector<std::string> kept = strategy_files(options.strategy);
  kept.push_back(options.hosts);
  kept = options.input.kept_files(std::move(kept));
  if (!prints_placement) check_outputs({options.output}, kept);
  const RankMapOptions map = rank_map_options(options);
  TriedMap tried;
  const Contender contender = mapper(options, map, tried);
  Inputs inputs(options.input);
  inputs.count_all_messages();
  const Problem given = inputs.on(0);
  const Placement current = before(options, inputs, given, map);
  const Problem problem{given.machine, given.workload, current, given.costs, given.seed};
  Result result = result_of(contender, problem, current, map.distance);
  const Placement& placement = result.decision.placement;
  if (!options.launcher.empty()) {
    const Launcher launcher = launcher_named(options.launcher);
    const bool is_job =
        options.hosts.empty() && options.input.machines == std::vector{std::string("job")};
    const std::vector<std::string> hosts = is_job ? job_machine().hosts : hosts_of(options.hosts);
    if (options.launch_file.empty()) options.launch_file = usual_file(launcher);
    result.launch =
        launch_plan({problem.machine, placement, map.shape, hosts}, launcher, options.launch_file);
  }
  kept.insert(kept.end(), {options.output, options.input.current});
  for (const LaunchFile& file : result.launch.files) check_outputs({file.path}, kept);
  if (!options.output.empty() && !prints_placement) write_placement(options.output, placement);
  for (const LaunchFile& file : result.launch.files) write_file(file.path, file.text);
  if (prints_placement) return print(placement_to_text(placement), inputs.notes());
  print(options.json ? json_text(options, inputs, problem, result)
                     : text_of(options, inputs, problem, result, tried),
        inputs.notes());
}

}  // namespace

void add_map(CLI::App& app) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* command =
      app.add_subcommand("map", "Map the ranks of an MPI program to places, one rank per place");
  add_input_options(*command, options->input, "--placement");
  command->get_option("--phase")->description(
      "Phase of the trace whose messages count, by its number there (default: all phases)");
  add_text(*command, "-s,--strategy", "S", options->strategy,
           "Strategy: map (bytes times distance), or one of poise strategies; exec:COMMAND "
           "or plugin:FILE.so of your own");
  add_exec_limit(*command, options->limit);
  add_text(*command, "--distance", "HOW", options->distance,
           "Distance of two places: hops, or factors (the machine's latency factors)");
  add_count(*command, "--capacity", "K", options->capacity, "Ranks that may share a place", 1);
  add_count(*command, "--cores", "N", options->cores,
            "Neighbouring cores for each rank and its threads", 1);
  add_text(*command, "-o,--output", "FILE", options->output,
           "Write the map: one place number per line, rank by rank; .json for JSON; - for "
           "stdout");
  add_text(*command, "--for", "LAUNCHER", options->launcher,
           "Write what this launcher needs, and print its command line: openmpi, mpich, "
           "slurm, cray, lsf, pbs");
  add_text(*command, "--launch-file", "FILE", options->launch_file,
           "Name of that file (default: rankfile, hosts, MPICH_RANK_ORDER or map.erf)");
  add_text(*command, "--hosts", "LIST", options->hosts,
           "Names of the nodes in order: a,b,... or a file with one per line "
           "(--machine job: known)");
  command->add_flag("--json", options->json, "Print one JSON document and nothing else");
  command->footer(
      "Example: poise map run.poise --machine \"node:16 core:64\" --for openmpi --hosts hosts.txt");
  command->callback([options] { map_trace(*options); });
}

}  // namespace poise::apps
