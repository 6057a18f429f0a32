// SPDX-License-Identifier: BSD-3-Clause
// The metrics of a placement that `poise plan`, `poise evaluate` and `poise compare` report, as
// keys of --json and in tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/analysis/inputs.h"
#include "apps/analysis/sizes.h"

#include "poise/placement/metrics.h"

namespace poise::apps {

/// Returns the number of messages in the workload. Several messages between the same two tasks
/// count as several.
std::uint64_t num_messages(const Workload& workload);

/// Returns JSON with the keys trace, phase, machine, tasks, messages and places.
nlohmann::ordered_json json_of_problem(const InputOptions& options, const Phase& phase,
                                       const Machine& machine);

/// Adds every metric to the JSON object. The key of a metric is the name of the member of Metrics
/// that has its value. Unknown values are null.
void add_metrics(nlohmann::ordered_json& json, const Metrics& metrics, bool has_sizes);

nlohmann::ordered_json json_of(const MakespanBounds& bounds);

/// Returns a text such as "step.poise, phase 0: 4,096 tasks, 24,576 messages".
std::string trace_text(const InputOptions& options, const Phase& phase,
                       std::size_t counted_phases = 1);

/// Returns two lines that describe the trace and the machine.
std::string heading_text(const InputOptions& options, const Phase& phase, const Machine& machine,
                         std::size_t counted_phases = 1);

/// Returns a text such as "no placement has a makespan below 12.30 ms (average …)".
std::string text_of(const MakespanBounds& bounds);

/// Shows two placements side by side, one metric per line.
std::string before_and_after(const Metrics& before, const Metrics& after, bool has_sizes);

/// Returns the total time of one decision, its migrations, and the `every` iterations until the
/// next decision.
double amortised_s(const Metrics& metrics, double decision_s, std::uint64_t every);

}  // namespace poise::apps
