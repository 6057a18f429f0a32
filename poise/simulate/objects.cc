// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/objects.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "poise/base/error.h"

namespace poise {

namespace {

bool has_same_names(const Phase& a, const Phase& b) {
  return a.names == b.names && a.workload.homes == b.workload.homes;
}

Objects by_number(const Trace& trace) {
  Objects objects;
  for (const Phase& phase : trace.phases) {
    auto& numbers = objects.of_task.emplace_back(phase.workload.num_tasks());
    std::iota(numbers.begin(), numbers.end(), ObjectId{0});
    objects.count = std::max(objects.count, phase.workload.num_tasks());
  }
  return objects;
}

}  // namespace

TaskIdentity identity_of(const Phase& phase, TaskId task) {
  const TaskName& name = phase.names[task];
  const bool needs_home = name.kind == TaskName::Kind::sequence && !phase.workload.homes.empty();
  return {name.kind, name.id, name.collection, needs_home ? phase.workload.homes[task] : 0};
}

Objects objects_of(const Trace& trace) {
  for (const Phase& phase : trace.phases)
    if (phase.names.empty()) return by_number(trace);
  Objects objects;
  std::map<TaskIdentity, ObjectId> known;
  for (std::size_t i = 0; i < trace.phases.size(); ++i) {
    const Phase& phase = trace.phases[i];
    if (i > 0 && has_same_names(phase, trace.phases[i - 1])) {
      objects.of_task.push_back(objects.of_task.back());
      continue;
    }
    std::vector<ObjectId> numbers;
    for (TaskId t = 0; t < phase.workload.num_tasks(); ++t) {
      const auto [found, is_new] = known.emplace(identity_of(phase, t), objects.count);
      objects.count += is_new;
      numbers.push_back(found->second);
    }
    std::vector<ObjectId> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      fail(
          "phase {}: two tasks have the same name; the names in a phase must differ, because a "
          "name identifies a task in other phases",
          phase.id);
    objects.of_task.push_back(std::move(numbers));
  }
  return objects;
}

}  // namespace poise
