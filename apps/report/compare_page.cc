// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/compare_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

#include "apps/report/html.h"
#include "apps/report/metrics.h"
#include "apps/report/page_script.h"
#include "apps/report/page_table.h"
#include "apps/report/pictures.h"
#include "apps/report/timeline_pictures.h"
#include "apps/text/format.h"

namespace poise::apps {

namespace {

constexpr std::uint32_t kMaxGroups = 64;

std::string percent_of(double part, double whole) {
  return fmt::format("{:.1f}%", 100 * part / whole);
}

/// Returns a sentence such as "greedy cuts the predicted iteration from 40.00 ms to 21.00 ms
/// (-47.5%); that is 3.0% above the lower bound", followed by how much the strategy moves.
std::string summary_of(const Comparison& comparison) {
  const Comparison::Row& best = comparison.best_row();
  const double now_s = comparison.keep.iteration_s, best_s = best.metrics.iteration_s;
  const double bound_s = comparison.bounds.largest_s();
  std::string text;
  if (best_s < now_s)
    text = fmt::format("<b>{}</b> cuts the predicted iteration from {} to <b>{}</b> ({})",
                       escaped(best.strategy), seconds_text(now_s), seconds_text(best_s),
                       change_text(best_s, now_s));
  else
    text = fmt::format("No strategy improves on the current placement, which takes {}",
                       seconds_text(now_s));
  if (bound_s > 0)
    text += best_s > 1.0005 * bound_s ? fmt::format("; that is {} above the lower bound",
                                                    percent_of(best_s - bound_s, bound_s))
                                      : "; no placement is faster";
  if (best.metrics.migrations > 0)
    text += fmt::format(
        ". It moves {} of {} tasks, {}", count_text(best.metrics.migrations),
        count_text(comparison.best_placement.num_tasks()),
        comparison.has_sizes ? bytes_text(best.metrics.migrated_bytes) : "of unknown size");
  return text + ".";
}

/// Returns the cells of a strategy's row, without the first cell, which has its name.
std::vector<PageCell> cells_of(const Comparison::Row& row, const Comparison& comparison,
                               std::uint64_t every) {
  const Metrics& m = row.metrics;
  const bool is_known = knows_migration_cost(m.migrations, comparison.has_sizes);
  const PageCell unknown{"unknown"};
  return {seconds_cell(m.iteration_s),
          change_cell(m.iteration_s, comparison.keep.iteration_s),
          change_cell(m.iteration_s, comparison.iteration_bound_s),
          digits_cell(m.imbalance),
          seconds_cell(m.makespan_s),
          seconds_cell(m.max_comm_s),
          bytes_cell(m.hop_bytes),
          bytes_cell(m.internode_bytes),
          digits_cell(m.nuco_messages),
          count_cell(m.migrations),
          is_known ? bytes_cell(m.migrated_bytes) : unknown,
          is_known ? seconds_cell(m.migration_s) : unknown,
          seconds_cell(row.decision_s),
          seconds_cell(amortised_s(m, row.decision_s, every))};
}

std::string table_html(const Comparison& comparison, std::uint64_t every) {
  std::vector<PageRow> rows;
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    const Comparison::Row& row = comparison.rows[r];
    rows.push_back({row.strategy,
                    row.error.empty() ? cells_of(row, comparison, every) : std::vector<PageCell>(),
                    row.error, comparison.best == r});
  }
  return page_table(comparison.machine.name(),
                    {"strategy", "iteration", "vs keep", "vs bound", "imbalance", "makespan",
                     "max comm.", "hop-bytes", "inter-node", "NUCO messages", "moves",
                     "moved bytes", "migration", "decision", fmt::format("{} phases", every)},
                    rows);
}

std::string load_figures(const ComparePart& part) {
  const Comparison& comparison = part.comparison;
  const double bound_s = comparison.bounds.largest_s();
  const double top_s =
      std::max({busiest_s(part.times_before), busiest_s(part.times_after), bound_s});
  const auto figure = [&](const PlaceTimes& times, const Metrics& metrics,
                          const std::string& when) {
    const std::string label = fmt::format("Busy time of each place {}", when);
    const std::string caption =
        fmt::format("<b>{}</b>: busiest place {}, imbalance {}", escaped(when),
                    seconds_text(metrics.iteration_s), digits(metrics.imbalance));
    return html_figure(load_picture(comparison.machine, times, bound_s, top_s, label), caption);
  };
  const Comparison::Row& best = comparison.best_row();
  const std::string key =
      "<p class=\"faint\"><span class=\"key work\"></span>work<span class=\"key comm\"></span>"
      "receiving messages<span class=\"key bound\"></span>lower bound: " +
      seconds_text(bound_s);
  return "<h3>Busy time of every place</h3>\n" + key + "</p>\n" +
         html_row({figure(part.times_before, comparison.keep, "now"),
                   figure(part.times_after, best.metrics, "after " + best.strategy)});
}

std::string traffic_figures(const ComparePart& part) {
  const double largest = std::max(part.traffic_before.largest, part.traffic_after.largest);
  const Comparison::Row& best = part.comparison.best_row();
  const auto figure = [&](const Traffic& traffic, const Metrics& metrics, const std::string& when) {
    const std::string caption =
        fmt::format("<b>{}</b>: {} hop-bytes, {} between nodes, {} NUCO-weighted messages",
                    escaped(when), bytes_text(metrics.hop_bytes),
                    bytes_text(metrics.internode_bytes), digits(metrics.nuco_messages));
    return html_figure(traffic_picture(traffic, largest, "Communication " + when), caption);
  };
  return fmt::format("<h3>Communication: {} from row to column</h3>\n",
                     part.traffic_before.in_bytes ? "bytes" : "messages") +
         "<p class=\"faint\">Messages inside a place cost nothing and are left out. The shade is "
         "proportional to the square root of the amount.</p>\n" +
         html_row({figure(part.traffic_before, part.comparison.keep, "now"),
                   figure(part.traffic_after, best.metrics, "after " + best.strategy)});
}

std::string reach_text(const char* name, const Moves::Reach& reach, bool has_sizes) {
  const bool is_known = knows_migration_cost(reach.tasks, has_sizes);
  return fmt::format("<dt>{}</dt><dd>{}, {}</dd>\n", name, count_text(reach.tasks, "task"),
                     is_known ? bytes_text(reach.bytes) : "size unknown");
}

/// Returns the smallest and the largest latency factor between two memory domains of the same node
/// or, with `across_nodes`, of different nodes.
std::string factor_range(const Machine& machine, bool across_nodes) {
  double least = 0, largest = 0;
  const std::uint32_t domains = std::min(machine.num_domains(), 512u);
  for (DomainId from = 0; from < domains; ++from)
    for (DomainId to = 0; to < domains; ++to) {
      if (from == to || (machine.node_of(from) != machine.node_of(to)) != across_nodes) continue;
      const double factor = machine.latency_factor(from, to);
      least = least == 0 ? factor : std::min(least, factor);
      largest = std::max(largest, factor);
    }
  if (largest == 0) return "";
  return least == largest ? digits(largest)
                          : fmt::format("{} to {}", digits(least), digits(largest));
}

std::string machine_facts(const Machine& machine) {
  const auto& parts = machine.parts();
  std::string out = fmt::format(
      "<dl>\n<dt>places</dt><dd>{} in {} of {}</dd>\n", count_text(machine.num_places()),
      count_text(machine.num_domains(), "domain"), count_text(machine.num_nodes(), "node"));
  const auto add = [&out](const char* name, const std::string& range, Source source) {
    if (!range.empty())
      out += fmt::format("<dt>{}</dt><dd>{} ({})</dd>\n", name, range, name_of(source));
  };
  add("factor between domains", factor_range(machine, false), parts.numa_source);
  add("factor between nodes", factor_range(machine, true), parts.network_source);
  if (machine.num_nodes() > 1)
    out +=
        fmt::format("<dt>network</dt><dd>{}{}{}</dd>\n", name_of(parts.network.shape),
                    parts.network.dims.empty() ? "" : " of ", fmt::join(parts.network.dims, " x "));
  const CostModel& costs = machine.costs();
  out += fmt::format("<dt>cost model</dt><dd>{}</dd>\n", name_of(costs.formula));
  if (costs.formula == CostFormula::nuco)
    out += fmt::format("<dt>message</dt><dd>{} times its factor</dd>\n",
                       seconds_text(costs.seconds_per_message));
  return out + "</dl>\n";
}

std::string machine_and_moves(const ComparePart& part) {
  const Machine& machine = part.comparison.machine;
  const Moves& moves = part.moves;
  const Metrics& best = part.comparison.best_row().metrics;
  const bool has_sizes = part.comparison.has_sizes;
  const std::string moved = fmt::format(
      "<div><h3>Migrations of the best strategy</h3>\n<dl>\n{}{}{}<dt>time</dt><dd>{}: the place "
      "that sends or receives most</dd>\n</dl></div>\n",
      reach_text("inside a domain", moves.inside_domain, has_sizes),
      reach_text("inside a node", moves.inside_node, has_sizes),
      reach_text("between nodes", moves.between_nodes, has_sizes),
      knows_migration_cost(best.migrations, has_sizes) ? seconds_text(best.migration_s)
                                                       : "unknown");
  return html_row({"<div><h3>The machine</h3>\n" + machine_picture(machine) +
                       machine_facts(machine) + "</div>\n",
                   moved});
}

std::string part_html(const ComparePart& part, std::size_t number, std::uint64_t every) {
  const Comparison& comparison = part.comparison;
  return fmt::format("<section id=\"machine{}\">\n<h2>On {}</h2>\n<p class=\"summary\">{}</p>\n",
                     number, escaped(comparison.machine.name()), summary_of(comparison)) +
         "<h3>Predicted iteration</h3>\n" +
         html_row(
             {html_figure(ranking_picture(comparison), "<b>Iteration</b> of every strategy"),
              html_figure(trade_off_picture(comparison),
                          "<b>What a shorter iteration takes</b>: further right means more to "
                          "move, a larger point more time to decide. Strategies with a name are "
                          "not beaten by one that moves less. Dashed: lower bounds")}) +
         table_html(comparison, every) +
         fmt::format("<p class=\"faint\">Lower bound: {}.</p>\n", text_of(comparison.bounds)) +
         (part.curve.empty() ? ""
                             : curve_html(part.curve, comparison.best_row().strategy, every,
                                          comparison.has_sizes)) +
         load_figures(part) + phases_html(part.phases) + traffic_figures(part) +
         machine_and_moves(part) + "</section>\n";
}

/// Returns a table with one row per machine. Each row links to the part of the page about its
/// machine.
std::string overview(const std::vector<ComparePart>& parts) {
  std::string out =
      "<nav aria-label=\"Machines\" class=\"scroll\"><table>\n<tr><th scope=\"col\">machine</th>"
      "<th scope=\"col\">places</th><th scope=\"col\">now</th><th scope=\"col\">best</th>"
      "<th scope=\"col\">iteration</th><th scope=\"col\">vs now</th><th scope=\"col\">vs bound</th>"
      "</tr>\n";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Comparison& comparison = parts[i].comparison;
    const Comparison::Row& best = comparison.best_row();
    const double best_s = best.metrics.iteration_s;
    out += fmt::format(
        "<tr><th scope=\"row\"><a href=\"#machine{}\">{}</a></th><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
        i, escaped(comparison.machine.name()), count_text(comparison.machine.num_places()),
        seconds_text(comparison.keep.iteration_s), escaped(best.strategy), seconds_text(best_s),
        change_text(best_s, comparison.keep.iteration_s),
        change_text(best_s, comparison.iteration_bound_s));
  }
  return out + "</table></nav>\n";
}

constexpr std::string_view kWords = R"(<footer><h2>The words</h2>
<dl>
<dt>iteration</dt><dd>predicted time of one phase: the busiest place's background load, tasks and
received messages</dd>
<dt>makespan</dt><dd>the same without messages</dd>
<dt>imbalance</dt><dd>makespan over the average of all places; 1 is perfect</dd>
<dt>lower bound</dt><dd>no placement has a smaller makespan, so none has a smaller iteration</dd>
<dt>max comm.</dt><dd>time the busiest receiver spends on messages</dd>
<dt>hop-bytes</dt><dd>bytes of every message times the number of edges between its places in the
machine's tree</dd>
<dt>NUCO messages</dt><dd>messages between places, each multiplied by its latency factor (its latency
relative to local memory)</dd>
<dt>decision</dt><dd>CPU time of the strategy</dd>
<dt>K phases</dt><dd>a decision, its migrations, and K iterations</dd>
</dl></footer>
)";

/// Sorts the rows as in the printed table: the best strategy comes first.
void rank_rows(Comparison& comparison) {
  std::vector<Comparison::Row> rows;
  for (const Comparison::Row* const row : ranked(comparison)) rows.push_back(*row);
  comparison.rows = std::move(rows);
  if (comparison.best) comparison.best = 0;
}

}  // namespace

ComparePart with_pictures(Comparison comparison, const Problem& problem, const Trace& trace,
                          std::vector<CurvePoint> curve) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const Placement& current = problem.current;
  const CostModel& costs = problem.costs;
  const Placement& after = comparison.best_placement;
  ComparePart part{.comparison = {},
                   .times_before = place_times(machine, workload, costs, current),
                   .times_after = place_times(machine, workload, costs, after),
                   .traffic_before = traffic_of(machine, workload, current, kMaxGroups),
                   .traffic_after = traffic_of(machine, workload, after, kMaxGroups),
                   .moves = moves_of(machine, workload, current, after),
                   .phases = recorded_phases(trace, machine, costs),
                   .curve = std::move(curve)};
  part.comparison = std::move(comparison);
  rank_rows(part.comparison);
  return part;
}

std::string compare_page(const std::vector<ComparePart>& parts, const std::string& heading,
                         std::uint64_t every, const std::vector<Timeline>& timelines,
                         std::string_view data) {
  std::string body = fmt::format(
      "<header><h1>Who should run where</h1>\n<p class=\"faint\">{}</p>\n", escaped(heading));
  body += download_html(data);
  if (parts.size() > 1) body += overview(parts);
  body += "</header>\n<main>\n" + timelines_html(timelines);
  for (std::size_t i = 0; i < parts.size(); ++i) body += part_html(parts[i], i, every);
  body += "</main>\n" + std::string(kWords);
  return html_page("Poise: " + heading, body);
}

}  // namespace poise::apps
