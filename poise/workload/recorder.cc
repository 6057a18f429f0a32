// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/recorder.h"

#include <algorithm>
#include <utility>

#include "poise/base/error.h"
#include "poise/workload/merge.h"

namespace poise {

namespace {

/// Adds up the loads of tasks that ran on several threads.
void merge_loads(std::vector<Recording::Load>& loads) {
  std::stable_sort(
      loads.begin(), loads.end(),
      [](const Recording::Load& a, const Recording::Load& b) { return a.task < b.task; });
  std::size_t kept = 0;
  for (const Recording::Load& load : loads) {
    if (kept > 0 && loads[kept - 1].task == load.task)
      loads[kept - 1].load_s += load.load_s;
    else
      loads[kept++] = load;
  }
  loads.resize(kept);
}

}  // namespace

Recorder::Recorder(std::vector<Task> tasks, std::uint32_t num_places)
    : num_tasks_(tasks.size()), tasks_(std::move(tasks)), num_places_(num_places) {
  for (Task& task : tasks_) task.load_s = 0;
}

Recorder::Recorder(TaskId num_tasks, std::uint32_t num_places)
    : num_tasks_(num_tasks), num_places_(num_places) {}

Recorder::~Recorder() = default;

Recorder::Log& Recorder::add_thread() {
  const std::lock_guard lock(mutex_);
  logs_.push_back(std::make_unique<Log>(num_tasks_, num_places_));
  return *logs_.back();
}

void Recorder::collect(double now_s, Workload& phase, Recording& recording) {
  const std::lock_guard lock(mutex_);
  std::string trouble;
  for (const auto& log : logs_) {
    if (!log->running_.empty()) log->charge(now_s);
    log->add_to(recording);
    log->add_background(phase);
    if (trouble.empty()) trouble = log->misuse();
    log->restart();
  }
  if (!trouble.empty()) fail("recorder: {}", trouble);
}

Workload Recorder::end_phase(double now_s) {
  Workload phase;
  Recording recording;
  collect(now_s, phase, recording);
  phase.tasks = tasks_;
  for (const auto& [task, load_s] : recording.loads) phase.tasks[task].load_s += load_s;
  phase.messages = merged(num_tasks_, recording.messages);
  return phase;
}

Recording Recorder::end_recording(double now_s) {
  Workload phase;
  Recording recording;
  collect(now_s, phase, recording);
  merge_loads(recording.loads);
  merge_in_place(recording.messages);
  return recording;
}

void Recorder::Log::add_to(Recording& recording) const {
  // A task that ran in the previous phase but not in this one still has an entry, whose sum is 0.
  // The same holds for a pair of tasks that sent messages in the previous phase only.
  for (const auto& [task, load_s] : load_s_.entries()) recording.loads.emplace_back(task, load_s);
  for (const auto& [pair, sent] : sent_.entries())
    if (sent.count > 0) recording.messages.emplace_back(pair >> 32, pair, sent.count, sent.bytes);
}

void Recorder::Log::add_background(Workload& phase) const {
  for (const auto& [place, seconds] : background_s_.entries()) {
    if (seconds == 0) continue;
    phase.background_s.resize(num_places_);
    phase.background_s[place] += seconds;
  }
}

void Recorder::Log::note(Misuse misuse, std::uint32_t id) {
  if (misuse_ != Misuse::none) return;
  misuse_ = misuse;
  misused_id_ = id;
}

std::string Recorder::Log::misuse() const {
  switch (misuse_) {
    case Misuse::none: return "";
    case Misuse::no_such_task:
      return fmt::format("task {} does not exist; there are {}", misused_id_, num_tasks_);
    case Misuse::no_such_place:
      return fmt::format("place {} does not exist; there are {}", misused_id_, num_places_);
    case Misuse::not_running:
      return fmt::format("task {} ended, but is not the one its thread began last", misused_id_);
    case Misuse::ran_backwards:
      return fmt::format("time ran backwards while task {} was running", misused_id_);
    case Misuse::negative_background:
      return fmt::format("the background load of place {} is not at least 0", misused_id_);
  }
  return "";
}

void Recorder::Log::restart() {
  load_s_.restart();
  sent_.restart();
  background_s_.restart();
  misuse_ = Misuse::none;
}

}  // namespace poise
