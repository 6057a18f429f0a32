// SPDX-License-Identifier: BSD-3-Clause
// `poise measure`: measures this machine and, with a launcher, its network.
#include "poise/machine/measure.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/pingpong/network_probe.h"
#include "apps/text/command_line.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/discover.h"
#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/machine/hwloc_xml.h"
#include "poise/machine/json.h"
#include "poise/machine/probe.h"

namespace poise::apps {

namespace {

constexpr DomainId kMaxDomainsInFull = 4;
// A warning is printed if the interquartile range divided by the median is larger than this.
constexpr double kMaxSpread = 0.2;

struct MeasureCommandOptions {
  std::string output, launcher;
  std::uint64_t seconds = 20;
  bool json = false, ranks_as_hosts = false;
};

std::string bar(double done, const std::string& what) {
  constexpr std::size_t kWidth = 30;
  const auto full = static_cast<std::size_t>(done * kWidth);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f}% {}", "", full, "", kWidth - full, 100 * done, what);
}

std::string figure(double value) { return fmt::format("{:.4g}", value); }

Table::Row row_of(std::string what, const Spread& spread, const char* unit, std::string factor) {
  return {{std::move(what), fmt::format("{} {}", figure(spread.median), unit), figure(spread.low),
           figure(spread.high), std::move(factor)}};
}

/// Returns all pairs of memory domains if there are few domains. Otherwise returns three pairs: a
/// domain with itself, two domains nearest to each other, and two farthest from each other.
std::vector<std::pair<DomainId, DomainId>> pairs_to_show(const Machine& machine) {
  std::vector<std::pair<DomainId, DomainId>> pairs;
  const DomainId domains = machine.num_domains();
  for (DomainId from = 0; from < domains; ++from)
    for (DomainId to = 0; to < domains; ++to) pairs.emplace_back(from, to);
  if (domains <= kMaxDomainsInFull) return pairs;
  const auto nearer = [&](const auto& a, const auto& b) {
    return machine.latency_factor(a.first, a.second) < machine.latency_factor(b.first, b.second);
  };
  std::erase_if(pairs, [](const auto& pair) { return pair.first == pair.second; });
  const auto [nearest, farthest] = std::minmax_element(pairs.begin(), pairs.end(), nearer);
  return {{0, 0}, *nearest, *farthest};
}

void add_domains(const Machine& machine, Table& table) {
  const Measurement& measured = machine.parts().facts.measurement;
  for (const auto& [from, to] : pairs_to_show(machine))
    table.rows.push_back(row_of(fmt::format("memory of domain {}, read by {}", from, to),
                                measured.latency_ns[from * machine.num_domains() + to], "ns",
                                figure(machine.latency_factor(from, to))));
  for (const auto& [from, to] : pairs_to_show(machine)) {
    const double factor = machine.byte_factor(machine.first_place(from), machine.first_place(to));
    table.rows.push_back(row_of(fmt::format("memory of domain {}, triad by {}", from, to),
                                measured.gigabytes_per_s[from * machine.num_domains() + to], "GB/s",
                                from == to ? "1" : figure(factor)));
  }
}

std::string text_of(const Machine& machine) {
  const Measurement& measured = machine.parts().facts.measurement;
  const double local_ns = local_latency_ns(machine, measured);
  Table table{{machine.name(), "median", "quartile", "quartile", "factor"}, {}};
  add_domains(machine, table);
  for (const LevelLatency& level : measured.levels)
    table.rows.push_back(row_of(fmt::format("core to core inside one {}", level.level),
                                level.one_way_ns, "ns",
                                figure(level.one_way_ns.median / local_ns)));
  for (const HostPair& pair : measured.network) {
    const bool is_one_host = pair.from == pair.to;
    table.rows.push_back(row_of(is_one_host ? fmt::format("MPI message inside {}", pair.from)
                                            : fmt::format("message {} to {}", pair.from, pair.to),
                                pair.latency_ns, "ns",
                                is_one_host ? "" : figure(pair.latency_ns.median / local_ns)));
    table.rows.push_back({
        {"", fmt::format("fit {} ns", figure(pair.fit_latency_ns)), "", "",
         fmt::format("{} GB/s", figure(pair.fit_bytes_per_s * 1e-9))},
    });
  }
  return render(table, terminal_width()) +
         "\nFactors are relative to one local memory read. They are the hardware's part: what a "
         "runtime adds\nto each message comes on top.\n";
}

/// Divides the interquartile range of each measured value by its median. Returns the largest of
/// these ratios.
double largest_spread(const Measurement& measured) {
  double most = 0;
  const auto add = [&](const Spread& s) { most = std::max(most, (s.high - s.low) / s.median); };
  for (const Spread& spread : measured.latency_ns) add(spread);
  for (const Spread& spread : measured.gigabytes_per_s) add(spread);
  for (const LevelLatency& level : measured.levels) add(level.one_way_ns);
  for (const HostPair& pair : measured.network) add(pair.latency_ns);
  return most;
}

std::vector<std::string> notes_on(const Machine& machine, const std::vector<std::string>& hosts,
                                  const MeasureCommandOptions& options) {
  std::vector<std::string> notes;
  if (const double most = largest_spread(machine.parts().facts.measurement); most > kMaxSpread)
    notes.push_back(fmt::format(
        "figures vary by up to {:.0f}%: measure again when the machine is idle", 100 * most));
  if (!options.launcher.empty() && hosts.size() == 1)
    notes.push_back(fmt::format("all ranks are on {}: there is no network to measure", hosts[0]));
  if (hosts.size() > 1 && options.output.empty())
    notes.push_back(fmt::format(
        "the factor of the network is stored with {}; -o FILE writes the machine of all {} hosts",
        machine.name(), hosts.size()));
  return notes;
}

/// True if the output is hwloc's XML format, which a file name that ends with .xml selects.
bool is_xml(const std::string& path) { return path.ends_with(".xml"); }

/// Returns the path of the output file. Throws Error, before the long measurement begins, if the
/// file cannot be written.
std::string destination(const MeasureCommandOptions& options, const Machine& discovered) {
  if (!options.output.empty()) {
    if (is_xml(options.output) && !options.launcher.empty())
      fail(
          "{}: an XML file of hwloc cannot store the network that --launcher measures; name a "
          ".json file, or leave out --launcher",
          options.output);
    check_outputs({options.output});
    return options.output;
  }
  std::string path = measurement_file(discovered);
  if (path.empty())
    fail(
        "no folder for the measurement is known, because neither XDG_DATA_HOME nor HOME is set; "
        "name a file with -o FILE");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error)
    fail("cannot create the folder for {}: {}; choose another file with -o FILE", path,
         error.message());
  check_outputs({path});
  return path;
}

void measure(const MeasureCommandOptions& options) {
  if (options.ranks_as_hosts && options.launcher.empty())
    fail(
        "--ranks-as-hosts needs --launcher, which measures the network; example: --launcher "
        "\"mpirun -np 4\"");
  const Machine discovered = discover_machine();
  const std::string path = destination(options, discovered);
  Progress progress;
  MeasureOptions how;
  how.seconds = options.seconds * (options.launcher.empty() ? 0.9 : 0.6);
  how.progress = [&](double done, const std::string& next) { progress.show(bar(done, next)); };
  // The network is measured first, so that a wrong launcher is reported immediately.
  NetworkTimes times{{discovered.name()}, {}};
  if (!options.launcher.empty())
    times = measure_network({options.launcher, 0.3 * options.seconds, options.ranks_as_hosts},
                            how.progress);
  Machine machine =
      with_measurement(discovered, measure_node(discovered, live_probes(discovered), how));
  if (!times.pairs.empty()) machine = with_network(machine, std::move(times.pairs));
  const std::vector<std::string>& hosts = times.hosts;
  progress.show("");
  const bool is_cluster = hosts.size() > 1 && !options.output.empty();
  const std::string json = machine_to_json(is_cluster ? cluster_of(machine, hosts) : machine);
  write_file(path, is_xml(path) ? hwloc_xml_of_host(machine) : json);
  const std::vector<std::string> notes = notes_on(machine, hosts, options);
  if (options.json) return print(json, notes);
  print(fmt::format("{}\nWritten to {}{}\n", text_of(machine), path,
                    options.output.empty() ? ": the machine \"live\" has these factors now" : ""),
        notes);
}

}  // namespace

void add_measure(CLI::App& app) {
  auto options = std::make_shared<MeasureCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "measure", "Measure latency and bandwidth between domains, cores and hosts of this machine");
  add_text(*command, "-o,--output", "FILE", options->output,
           "Write the machine to FILE (default: store it for --machine live); .xml: as hwloc's "
           "topology with the factors as distances");
  add_text(*command, "--launcher", "COMMAND", options->launcher,
           "Measure the network too, under this launcher: \"mpirun -np 4\"");
  add_count(*command, "--seconds", "S", options->seconds, "Approximate duration in seconds", 1);
  command->add_flag("--ranks-as-hosts", options->ranks_as_hosts,
                    "Treat every rank as a host of its own, to try it on one machine");
  command->add_flag("--json", options->json,
                    "Print the machine as JSON, with the spread of each figure");
  command->footer(
      "Example: poise measure --launcher \"mpirun -np 4 --map-by node\" -o cluster.json");
  command->callback([options] { measure(*options); });
}

}  // namespace poise::apps
