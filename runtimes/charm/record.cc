// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/record.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "runtimes/balance/run_record.h"

#include "poise/base/error.h"
#include "poise/placement/metrics.h"

namespace poise::charm {

namespace {

class Record {
 public:
  ~Record() {
    try {
      if (run_record_) run_record_->finish();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "poise: warning: the trace is incomplete: %s\n", error.what());
    }
  }

  balance::RunRecord& run_record(const Settings& settings, const Machine& machine) {
    if (!run_record_) {
      run_record_.emplace(settings.trace, settings.log, machine);
      num_places_ = machine.num_places();
    }
    if (num_places_ != machine.num_places())
      fail("the machine has {} places now, but it had {} when the recording of the trace began",
           machine.num_places(), num_places_);
    return *run_record_;
  }

  std::uint64_t next_step() { return step_++; }

 private:
  std::optional<balance::RunRecord> run_record_;
  std::uint32_t num_places_ = 0;
  std::uint64_t step_ = 0;
};

/// Returns a name for every task. PEs that send messages are tasks too; they come after the
/// objects, as in Charm++'s dumps.
std::vector<TaskName> names_of(const Made& made) {
  std::vector<TaskName> names;
  for (const std::uint32_t row : made.row_of_task) {
    const ObjectName name = made.statistics.object(row).name;
    names.push_back({name.id, name.array, {}, -1, TaskName::Kind::id});
  }
  const Placement& current = made.phase.current;
  for (TaskId t = names.size(); t < current.num_tasks(); ++t)
    names.push_back({current.of(t), -1, {}, -1, TaskName::Kind::place});
  return names;
}

}  // namespace

void write_down(const Made& made) {
  static Record record;
  const Machine& machine = made.stage.machine;
  balance::RunRecord& run_record = record.run_record(made.settings, machine);
  const auto& [workload, current] = made.phase;
  if (run_record.wants_phases()) {
    double wall_s = 0;
    for (const PeRow& pe : made.statistics.pes) wall_s = std::max(wall_s, pe.wall_s);
    run_record.add(made.phase, wall_s, names_of(made));
  }
  const Metrics after = evaluate(machine, workload, machine.costs(), current, made.placement);
  balance::BalanceResult balanced;
  balanced.step = record.next_step();
  balanced.imbalance_before =
      evaluate(machine, workload, machine.costs(), current, current).imbalance;
  balanced.imbalance_after = after.imbalance;
  balanced.migrations = after.migrations;
  balanced.decision_s = made.decide_s;
  balanced.migration_s = -1;
  run_record.add(made.settings.choice.text(), balanced);
}

}  // namespace poise::charm
