// SPDX-License-Identifier: BSD-3-Clause
// Compares the strategy `poise` with mapping tools at one balancing step. The workloads are of many
// kinds; they were balanced, and their loads have drifted since. Each tool decides once, and the
// predicted iteration times are compared. The parts of the program are mapping/instances,
// mapping/peers and mapping/judge.
//
//     mapping_bench [--quick] [--only=TEXT] [--peers=A,B:KNOB=VALUE,…] [--limit=STRATEGY]
//                   [--seed=N] [--recipes=A|B…] [--machines=A|B…] [--tasks=N,M…]
//                   [--traces=FOLDER] [--export=DIR | --import=DIR] [--benchmark_out=FILE]
//
// Before the drift, the workloads are balanced by scotch, nuco and poise in turn. --seed selects
// other instances, and which of these three strategies comes first. --recipes, --machines and
// --tasks replace the usual kinds, machines and numbers of tasks. A time is the CPU time of all
// threads, the minimum over several calls. --export writes the instances for tools outside the
// library (mapping_peers.py), and --import judges the placements that these tools wrote. Traces are
// read from $POISE_TEST_DATA/traces unless --traces names a folder. --limit names a strategy, such
// as anneal, that shows how short an iteration could be; it does not count as a mapping tool.
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/mapping/judge.h"
#include "bench/options.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace {

using namespace poise;
using namespace poise::mapping;
using nlohmann::json;

struct MappingOptions {
  Selection selection;
  Contest contest{usual_peers(), {}, {}};
  std::string export_to, out;
};

void write_report(const json& rows, const std::string& path) {
  fmt::print("{}\n", rows[0].dump(1));
  if (path.empty()) return;
  const json context{{"num_cpus", std::thread::hardware_concurrency()}};
  write_file(path, json{{"context", context}, {"benchmarks", rows}}.dump(1));
}

MappingOptions options_of(int argc, char** argv) {
  MappingOptions options;
  Selection& selection = options.selection;
  Contest& contest = options.contest;
  if (const char* data = std::getenv("POISE_TEST_DATA"))
    selection.traces = std::string(data) + "/traces";
  const std::map<std::string, std::string*> texts = {
      {"--seed", &selection.seed},         {"--recipes", &selection.recipes},
      {"--machines", &selection.machines}, {"--tasks", &selection.tasks},
      {"--only", &selection.only},         {"--peers", &contest.peers},
      {"--limit", &contest.limit},         {"--traces", &selection.traces},
      {"--export", &options.export_to},    {"--import", &contest.import_from},
      {"--benchmark_out", &options.out}};
  bench::for_each_option(argc, argv, "bench/mapping_bench.cc",
                         [&](const std::string& name, const std::string& value) {
                           if (name == "--quick")
                             selection.quick = true;
                           else if (const auto text = texts.find(name); text != texts.end())
                             *text->second = value;
                           else
                             return false;
                           return true;
                         });
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const MappingOptions options = options_of(argc, argv);
    if (!options.export_to.empty()) {
      for_each_instance(options.selection,
                        [&](Instance&& instance) { write_instance(options.export_to, instance); });
      return 0;
    }
    std::vector<Outcome> outcomes;
    for_each_instance(options.selection, [&](Instance&& instance) {
      outcomes.push_back(outcome_of(instance, options.contest));
      print(outcomes.back());
    });
    if (!outcomes.empty()) write_report(report_of(outcomes), options.out);
  } catch (const Error& error) {
    fmt::print(stderr, "mapping_bench: {}\n", error.what());
    return 2;
  }
}
