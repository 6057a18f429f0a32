// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/metrics.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "apps/text/format.h"
#include "apps/text/table.h"

namespace poise::apps {

using Json = nlohmann::ordered_json;

std::uint64_t num_messages(const Workload& workload) {
  std::uint64_t count = 0;
  for (const Message& message : workload.messages) count += message.count;
  return count;
}

nlohmann::ordered_json json_of_problem(const InputOptions& options, const Phase& phase,
                                       const Machine& machine) {
  return {{"trace", options.trace},
          {"phase", phase.id},
          {"machine", machine.name()},
          {"tasks", phase.workload.num_tasks()},
          {"messages", num_messages(phase.workload)},
          {"places", machine.num_places()}};
}

void add_metrics(nlohmann::ordered_json& json, const Metrics& metrics, bool has_sizes) {
  json["iteration_s"] = metrics.iteration_s;
  json["makespan_s"] = metrics.makespan_s;
  json["makespan_bound_s"] = metrics.makespan_bound_s;
  json["average_s"] = metrics.average_s;
  json["imbalance"] = metrics.imbalance;
  json["max_comm_s"] = metrics.max_comm_s;
  json["hop_bytes"] = metrics.hop_bytes;
  json["internode_bytes"] = metrics.internode_bytes;
  json["nuco_messages"] = metrics.nuco_messages;
  json["migrations"] = metrics.migrations;
  const bool is_known = knows_migration_cost(metrics.migrations, has_sizes);
  json["migrated_bytes"] = is_known ? Json(metrics.migrated_bytes) : Json(nullptr);
  json["migration_s"] = is_known ? Json(metrics.migration_s) : Json(nullptr);
}

nlohmann::ordered_json json_of(const MakespanBounds& bounds) {
  return {{"average_s", bounds.average_s},
          {"largest_task_s", bounds.largest_task_s},
          {"pigeonhole_s", bounds.pigeonhole_s},
          {"pinned_s", bounds.pinned_s}};
}

std::string trace_text(const InputOptions& options, const Phase& phase,
                       std::size_t counted_phases) {
  const std::string phases = counted_phases > 1 ? fmt::format("all {} phases", counted_phases)
                                                : fmt::format("phase {}", phase.id);
  return fmt::format("{}, {}: {}, {}", options.trace, phases,
                     count_text(phase.workload.num_tasks(), "task"),
                     count_text(num_messages(phase.workload), "message"));
}

std::string heading_text(const InputOptions& options, const Phase& phase, const Machine& machine,
                         std::size_t counted_phases) {
  return fmt::format("{}\non {}: {}, {}, {}\n", trace_text(options, phase, counted_phases),
                     machine.name(), count_text(machine.num_places(), "place"),
                     count_text(machine.num_domains(), "domain"),
                     count_text(machine.num_nodes(), "node"));
}

std::string text_of(const MakespanBounds& bounds) {
  return fmt::format(
      "no placement has a makespan below {}\n"
      "  (average {}, largest task {}, pigeonhole {}, pinned {})",
      seconds_text(bounds.largest_s()), seconds_text(bounds.average_s),
      seconds_text(bounds.largest_task_s), seconds_text(bounds.pigeonhole_s),
      seconds_text(bounds.pinned_s));
}

std::string before_and_after(const Metrics& before, const Metrics& after, bool has_sizes) {
  Table table{{"", "before", "after", "change"}, {}};
  const auto add = [&table](const char* name, double old_value, double new_value, auto&& text) {
    table.rows.push_back(
        {{name, text(old_value), text(new_value), change_text(new_value, old_value)}});
  };
  add("iteration", before.iteration_s, after.iteration_s, seconds_text);
  add("makespan", before.makespan_s, after.makespan_s, seconds_text);
  add("imbalance", before.imbalance, after.imbalance, digits);
  add("max communication", before.max_comm_s, after.max_comm_s, seconds_text);
  const auto bytes = [](double value) { return bytes_text(value); };
  add("hop-bytes", before.hop_bytes, after.hop_bytes, bytes);
  add("inter-node bytes", before.internode_bytes, after.internode_bytes, bytes);
  add("NUCO messages", before.nuco_messages, after.nuco_messages, digits);
  const std::string cost =
      knows_migration_cost(after.migrations, has_sizes)
          ? fmt::format("{}, {}", bytes_text(after.migrated_bytes), seconds_text(after.migration_s))
          : "tasks of unknown size";
  return render(table, 0) + fmt::format("migrations: {}, {}\n", count_text(after.migrations), cost);
}

double amortised_s(const Metrics& metrics, double decision_s, std::uint64_t every) {
  return every * metrics.iteration_s + metrics.migration_s + decision_s;
}

}  // namespace poise::apps
