// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/task_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/analysis/sizes.h"
#include "apps/text/csv.h"

namespace poise::apps {

namespace {

nlohmann::ordered_json json_of_phase(const Phase& phase) {
  const Workload& workload = phase.workload;
  const bool sizes_are_known = has_sizes(workload), is_placed = phase.placement.num_tasks() > 0;
  auto rows = nlohmann::ordered_json::array();
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const Task& task = workload.tasks[t];
    nlohmann::ordered_json row{{"task", t}, {"name", name_text(phase, t)}, {"load_s", task.load_s}};
    row["place"] = nullptr;
    if (is_placed) row["place"] = phase.placement.of(t);
    row["bytes"] = nullptr;
    if (sizes_are_known) row["bytes"] = task.bytes;
    row["movable"] = task.movable;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string name_text(const Phase& phase, TaskId task) {
  if (phase.names.empty()) return fmt::format("task {}", task);
  const TaskName& name = phase.names[task];
  if (name.kind == TaskName::Kind::place) return fmt::format("rank {}", name.id);
  std::string text = fmt::format("id {}", name.id);
  if (name.kind == TaskName::Kind::sequence) {
    text = fmt::format("seq {}", name.id);
    if (!phase.workload.homes.empty()) text += fmt::format(" home {}", phase.workload.homes[task]);
  }
  if (name.collection >= 0) text += fmt::format(" collection {}", name.collection);
  if (name.object_group >= 0) text += fmt::format(" group {}", name.object_group);
  if (!name.index.empty()) text += fmt::format(" [{}]", fmt::join(name.index, " "));
  return text;
}

std::string csv_of_tasks(const Trace& trace) {
  auto rows = nlohmann::ordered_json::array();
  for (const Phase& phase : trace.phases)
    for (const nlohmann::ordered_json& task : json_of_phase(phase)) {
      nlohmann::ordered_json row{{"phase", phase.id}};
      row.update(task);
      rows.push_back(std::move(row));
    }
  return csv_of(rows);
}

std::string json_of_tasks(const Trace& trace) {
  auto phases = nlohmann::ordered_json::array();
  for (const Phase& phase : trace.phases)
    phases.push_back({{"phase", phase.id}, {"tasks", json_of_phase(phase)}});
  return nlohmann::ordered_json{{"phases", std::move(phases)}}.dump(1) + "\n";
}

}  // namespace poise::apps
